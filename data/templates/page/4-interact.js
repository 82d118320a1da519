// Pointer and keyboard over a plot: a tip on the nearest point, click or drag or Enter to select.
"use strict";
isoloop.tip = function (figure) {
  let tip = figure.querySelector(".tip");
  if (!tip) {
    tip = isoloop.element("div", { className: "tip", hidden: true });
    tip.setAttribute("role", "status");
    figure.append(tip);
  }
  return {
    show(x, y, text) {
      tip.textContent = text;
      tip.hidden = false;
      const room = figure.clientWidth - tip.offsetWidth;
      tip.style.left = Math.max(0, Math.min(room, x + 14)) + "px";
      tip.style.top = Math.max(0, y - tip.offsetHeight - 10) + "px";
    },
    hide() { tip.hidden = true; },
  };
};

isoloop.describe = function (chart, d) {
  const value = isoloop.valueText, lines = [];
  if (d.p.label) lines.push(d.p.label);
  if (d.s.name && d.s.name !== d.p.label) lines.push(d.s.name);
  lines.push(`${chart.x.title}: ${value(d.p.x)}`);
  lines.push(`${chart.y.title}: ${value(d.p.y)}` + (d.p.range ? ` (${value(d.p.range[0])} to ${value(d.p.range[1])})` : ""));
  return lines.join("\n");
};

isoloop.interact = function (figure, svg, chart, plot) {
  const node = svg.node(), tip = isoloop.tip(figure), link = plot.link;
  const ordered = [...plot.dots].sort((a, b) => a.px - b.px || b.py - a.py);
  let at = -1, from = null;
  tip.hide();  // of the drawing before
  const place = (event) => {
    const box = node.getBoundingClientRect(), k = node.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * k, (event.clientY - box.top) * k];
  };
  const nearest = ([x, y]) => {
    let best = null, least = 22 * 22;
    for (const d of plot.near) {
      const far = (d.px - x) ** 2 + (d.py - y) ** 2;
      if (far < least) { least = far; best = d; }
    }
    return best;
  };
  const point = (d) => {
    plot.marks.classed("at", (m) => m === d);
    const box = node.getBoundingClientRect(), outer = figure.getBoundingClientRect(), k = box.width / node.viewBox.baseVal.width;
    if (d) tip.show(box.left - outer.left + d.px * k, box.top - outer.top + d.py * k, isoloop.describe(chart, d));
    else tip.hide();
  };
  node.addEventListener("pointermove", (event) => {
    const here = place(event);
    if (from) {
      svg.select(".brush").attr("x", Math.min(from[0], here[0])).attr("y", Math.min(from[1], here[1]))
        .attr("width", Math.abs(from[0] - here[0])).attr("height", Math.abs(from[1] - here[1]));
    } else point(nearest(here));
  });
  node.addEventListener("pointerleave", () => { if (!from) point(null); });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step && ordered.length) {
      at = at < 0 ? (step > 0 ? 0 : ordered.length - 1) : (at + step + ordered.length) % ordered.length;
      point(ordered[at]);
    } else if ((event.key === "Enter" || event.key === " ") && link && at >= 0 && ordered[at].p.row !== undefined) link.toggle(ordered[at].p.row);
    else if (event.key === "Escape") { point(null); if (link) link.choose([], false); }
    else return;
    event.preventDefault();
  });
  node.addEventListener("blur", () => { at = -1; point(null); });
  if (ordered.length) svg.attr("tabindex", 0).attr("aria-label", `${chart.title}. ${ordered.length} points; arrow keys go through them` + (link ? ", Enter selects." : "."));
  if (!link) return;

  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    from = place(event);
    svg.append("rect").attr("class", "brush");
    node.setPointerCapture(event.pointerId);
  });
  const release = (event) => {
    const to = event.pointerType === "touch" && event.type === "pointerup" ? place(event) : from && place(event);
    if (!to) return;
    const start = from || to, dragged = Math.hypot(start[0] - to[0], start[1] - to[1]) > 5;
    svg.selectAll(".brush").remove();
    from = null;
    if (event.type === "pointercancel") return;
    if (!dragged) {
      const d = nearest(to);
      if (d && d.p.row !== undefined) link.toggle(d.p.row);
      return;
    }
    const inside = (v, a, b) => Math.min(a, b) <= v && v <= Math.max(a, b);
    link.choose(plot.dots.filter((d) => d.p.row !== undefined && link.shown(d.p.row) && inside(d.px, start[0], to[0]) && inside(d.py, start[1], to[1])).map((d) => d.p.row), event.shiftKey);
  };
  node.addEventListener("pointerup", release);
  node.addEventListener("pointercancel", release);
};

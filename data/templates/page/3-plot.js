// Points and curves over two axes. Scales and ticks come with the chart.
"use strict";
isoloop.scale = function (axis, from, to) {
  return (axis.log ? d3.scaleLog() : d3.scaleLinear()).domain([axis.low, axis.high]).range([from, to]);
};
isoloop.ticks = function (side, scale, axis, inner) {
  const texts = new Map(axis.ticks);
  return side(scale).tickValues(axis.ticks.filter((t) => inner || t[1]).map((t) => t[0])).tickFormat((v) => texts.get(v) ?? "").tickSizeOuter(0);
};
isoloop.symbols = () => [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolStar, d3.symbolCross];
isoloop.colours = 6;
isoloop.valueText = function (v) {
  const size = Math.abs(v);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return v.toExponential(3);
  return size >= 1e4 ? Math.round(v).toLocaleString("en") : String(Number(v.toPrecision(5)));
};
// The text cut to about `room` pixels.
isoloop.fit = (text, room) => (text.length * 6.6 > room ? text.slice(0, Math.max(1, Math.floor(room / 6.6) - 1)) + "…" : text);
isoloop.newSvg = function (holder, width, height, chart) {
  holder.textContent = "";
  return d3.select(holder).append("svg").attr("class", "chart").attr("width", width).attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`).attr("font-size", 12).attr("role", "group").attr("aria-label", chart.title);
};

// The legend: buttons that show and hide a series.
isoloop.legend = function (figure, names, kinds, hidden, redraw) {
  const old = figure.querySelector(".legend");
  const list = old || isoloop.element("ul", { className: "legend" });
  list.textContent = "";
  names.forEach((name, i) => {
    if (!name) return;
    const svg = d3.create("svg").attr("width", 20).attr("height", 12).attr("aria-hidden", "true");
    const c = " c" + (kinds[i].colour % isoloop.colours);
    if (kinds[i].mark === "line") svg.append("path").attr("class", "curve" + c).attr("fill", "none").attr("stroke-width", 2).attr("stroke-dasharray", kinds[i].dashed ? "6 4" : null).attr("d", "M1,6H19");
    else if (kinds[i].mark === "bar") svg.append("rect").attr("class", "bar" + c).attr("x", 5).attr("y", 1).attr("width", 10).attr("height", 10);
    else svg.append("path").attr("class", "dot" + c + (kinds[i].dashed ? " hollow" : "")).attr("transform", "translate(10,6)").attr("d", d3.symbol().type(isoloop.symbols()[kinds[i].colour % isoloop.colours]).size(60)());
    const button = isoloop.element("button", { type: "button" }, svg.node(), name);
    button.setAttribute("aria-pressed", String(!hidden.has(i)));
    button.addEventListener("click", () => {
      if (!hidden.delete(i)) hidden.add(i);
      redraw();
      figure.querySelectorAll(".legend button")[i]?.focus();
    });
    list.append(isoloop.element("li", {}, button));
  });
  if (!old) figure.querySelector(".drawing").before(list);
};

isoloop.drawPlot = function (figure, chart, state) {
  const holder = figure.querySelector(".drawing"), width = Math.max(300, Math.min(holder.clientWidth || 680, 860));
  const link = chart.table ? isoloop.link(chart.table) : null;
  const hidden = state.hidden, redraw = () => isoloop.drawPlot(figure, chart, state);
  if (chart.series.length > 1) isoloop.legend(figure, chart.series.map((s) => s.name), chart.series, hidden, redraw);

  const longest = d3.max(chart.y.ticks, (t) => t[1].length) || 1;
  const frame = { left: 34 + 7.2 * longest, right: width - 18, top: 10, base: Math.max(280, Math.min(400, width * 0.5)) };
  const svg = isoloop.newSvg(holder, width, frame.base + 48, chart);
  svg.attr("data-frame", [frame.left, frame.top, frame.right, frame.base].join(" "));
  const x = isoloop.scale(chart.x, frame.left, frame.right), y = isoloop.scale(chart.y, frame.base, frame.top);
  svg.append("g").selectAll("line").data(chart.y.ticks.filter((t) => t[1])).join("line").attr("class", "grid")
    .attr("x1", frame.left).attr("x2", frame.right).attr("y1", (t) => y(t[0])).attr("y2", (t) => y(t[0]));
  const bottom = isoloop.ticks(d3.axisBottom, x, chart.x, true);
  const gx = svg.append("g").attr("transform", `translate(0,${frame.base})`).call(bottom);
  isoloop.thin(gx, 8);
  svg.append("g").attr("transform", `translate(${frame.left},0)`).call(isoloop.ticks(d3.axisLeft, y, chart.y, false));
  svg.selectAll(".tick text").attr("font-size", 12);
  svg.append("text").attr("class", "ink").attr("text-anchor", "middle").attr("x", (frame.left + frame.right) / 2).attr("y", frame.base + 41).text(isoloop.fit(chart.x.title, frame.right - frame.left + 30));
  svg.append("text").attr("class", "ink").attr("text-anchor", "middle").attr("transform", `translate(14,${(frame.top + frame.base) / 2}) rotate(-90)`).text(isoloop.fit(chart.y.title, frame.base - frame.top + 30));

  for (const g of chart.guides) {
    const at = g.vertical ? x(g.at) : y(g.at), right = g.vertical && at + 7 * g.text.length > frame.right;
    svg.append("line").attr("class", "guide").attr("stroke-dasharray", "5 4")
      .attr("x1", g.vertical ? at : frame.left).attr("x2", g.vertical ? at : frame.right)
      .attr("y1", g.vertical ? frame.top : at).attr("y2", g.vertical ? frame.base : at);
    svg.append("text").attr("class", "dim").attr("text-anchor", g.vertical && !right ? "start" : "end")
      .attr("x", g.vertical ? at + (right ? -5 : 5) : frame.right - 4).attr("y", g.vertical ? frame.top + 12 : at - 5).text(g.text);
  }
  const shown = chart.series.map((s, i) => ({ s, i })).filter(({ i }) => !hidden.has(i));
  for (const { s } of shown.filter(({ s }) => s.mark === "line")) {
    const c = " c" + (s.colour % isoloop.colours);
    if (s.points.length && s.points.every((p) => p.range))
      svg.append("path").attr("class", "band" + c).attr("fill-opacity", 0.16)
        .attr("d", d3.area().x((p) => x(p.x)).y0((p) => y(p.range[0])).y1((p) => y(p.range[1]))(s.points));
    svg.append("path").attr("class", "curve" + c).attr("fill", "none").attr("stroke-width", 1.8).attr("stroke-dasharray", s.dashed ? "6 4" : null)
      .attr("d", d3.line().x((p) => x(p.x)).y((p) => y(p.y))(s.points));
  }
  const dots = [], near = [];
  for (const { s } of shown) for (const p of s.points) {
    const dot = { p, s, px: x(p.x), py: y(p.y) };
    near.push(dot);
    if (s.mark === "dots") dots.push(dot);
  }
  const errors = svg.append("g").selectAll("path").data(dots.filter((d) => d.p.range)).join("path").attr("class", (d) => "error c" + (d.s.colour % isoloop.colours)).attr("stroke-width", 1.6)
    .attr("d", (d) => `M${d.px},${y(d.p.range[0])}V${y(d.p.range[1])}`);
  const marks = svg.append("g").attr("class", "dots").selectAll("path").data(dots).join("path")
    .attr("class", (d) => `dot c${d.s.colour % isoloop.colours}${d.s.dashed ? " hollow" : ""}${d.p.row !== undefined ? " linked" : ""}`)
    .attr("transform", (d) => `translate(${d.px},${d.py})`)
    .attr("data-row", (d) => d.p.row ?? null)
    .attr("d", (d) => d3.symbol().type(isoloop.symbols()[d.s.colour % isoloop.colours]).size(dots.length > 400 ? 26 : 52)());
  if (!near.length) svg.append("text").attr("class", "dim").attr("text-anchor", "middle").attr("x", (frame.left + frame.right) / 2).attr("y", (frame.top + frame.base) / 2).text("nothing to draw");

  const update = () => {
    const some = link && link.selected.size > 0;
    svg.classed("some", some);
    const chosen = (d) => link !== null && d.p.row !== undefined && link.selected.has(d.p.row);
    errors.classed("faint", (d) => (some && !chosen(d)) || (link !== null && d.p.row !== undefined && !link.shown(d.p.row)));
    marks.classed("selected", chosen)
      .classed("off", (d) => link !== null && d.p.row !== undefined && !link.shown(d.p.row));
    marks.filter(".selected").raise();
  };
  state.update = update;
  update();
  isoloop.interact(figure, svg, chart, { dots, near, marks, frame, link });
};

// Hides tick numbers that would touch.
isoloop.thin = function (g, gap) {
  let end = -Infinity;
  g.selectAll(".tick").each(function () {
    const text = this.querySelector("text"), box = text.getBoundingClientRect();
    if (!text.textContent) return;
    if (box.width && box.left < end + gap) text.remove(); else end = box.right;
  });
};

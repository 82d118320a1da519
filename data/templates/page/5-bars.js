// Horizontal bars grouped by category; panels side by side, one below the other where it is narrow.
"use strict";
isoloop.drawBars = function (figure, chart, state) {
  const holder = figure.querySelector(".drawing"), width = Math.max(300, Math.min(holder.clientWidth || 680, 1000));
  const hidden = state.hidden, redraw = () => isoloop.drawBars(figure, chart, state);
  if (chart.series.length > 1) isoloop.legend(figure, chart.series, chart.series.map((_, i) => ({ mark: "bar", colour: i })), hidden, redraw);
  const series = chart.series.map((name, i) => ({ name, i })).filter((s) => !hidden.has(s.i));
  const columns = width < 620 ? 1 : chart.panels.length, gap = 26;
  const names = Math.min(200, 14 + 6.6 * (d3.max(chart.categories, (c) => c.length) || 1));
  const each = (width - names - 18 - gap * (columns - 1)) / columns;
  const group = Math.max(18, series.length * 11 + 9), tall = group * chart.categories.length, block = tall + 50;
  const svg = isoloop.newSvg(holder, width, 6 + block * (columns === 1 ? chart.panels.length : 1), chart);
  const tip = isoloop.tip(figure), band = d3.scaleBand().domain(d3.range(chart.categories.length)).range([0, tall]).paddingInner(0);
  chart.panels.forEach((panel, p) => {
    const left = names + (columns === 1 ? 0 : p * (each + gap)), top = 6 + (columns === 1 ? p * block : 0);
    const x = isoloop.scale(panel.axis, left, left + each), g = svg.append("g").attr("transform", `translate(0,${top})`);
    if (columns === 1 || p === 0)
      g.selectAll("text.name").data(chart.categories).join("text").attr("class", "ink name").attr("text-anchor", "end")
        .attr("x", names - 6).attr("y", (_, c) => band(c) + group / 2 + 4).text((c) => isoloop.fit(c, names - 8));
    g.append("g").selectAll("line").data(panel.axis.ticks).join("line").attr("class", "grid").attr("x1", (t) => x(t[0])).attr("x2", (t) => x(t[0])).attr("y2", tall);
    const axis = g.append("g").attr("transform", `translate(0,${tall})`).call(isoloop.ticks(d3.axisBottom, x, panel.axis, true));
    axis.select(".domain").remove();
    axis.selectAll("text").attr("font-size", 12);
    isoloop.thin(axis, 6);
    g.append("text").attr("class", "ink").attr("text-anchor", "middle").attr("x", left + each / 2).attr("y", tall + 36).text(isoloop.fit(panel.axis.title, each + 24));
    series.forEach((s, order) => {
      const bars = g.append("g").selectAll("g").data(panel.bars[s.i]).join("g");
      const y = (c) => band(c) + (group - series.length * 11) / 2 + order * 11;
      bars.append("rect").attr("class", "bar c" + (s.i % isoloop.colours)).attr("x", (b) => Math.min(x(0), x(b.value))).attr("width", (b) => Math.abs(x(b.value) - x(0))).attr("y", (_, c) => y(c)).attr("height", 10);
      bars.filter((b) => b.range).append("path").attr("class", "axis").attr("fill", "none").attr("d", function (b) {
        const at = y(panel.bars[s.i].indexOf(b)) + 5;
        return `M${x(b.range[0])},${at - 3}v6m0,-3H${x(b.range[1])}m0,-3v6`;
      });
      bars.append("rect").attr("fill", "transparent").attr("x", left).attr("width", each).attr("y", (_, c) => y(c)).attr("height", 11)
        .each(function (b, c) {
          const range = b.range ? ` (${isoloop.valueText(b.range[0])} to ${isoloop.valueText(b.range[1])})` : "";
          this.addEventListener("pointerenter", () => tip.show(x(b.value), top + y(c), `${chart.categories[c]}\n${s.name ? s.name + ": " : ""}${isoloop.valueText(b.value)}${range}\n${panel.axis.title}`));
          this.addEventListener("pointerleave", () => tip.hide());
        });
    });
    g.append("line").attr("class", "axis").attr("x1", x(0)).attr("x2", x(0)).attr("y2", tall);
  });
};

// Brings the page to life: tables, charts, numbers behind each chart, what belongs to a selected row.
"use strict";
isoloop.numbers = function (figure, chart) {
  const element = isoloop.element, details = element("details", {}, element("summary", { textContent: "numbers" }));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const head = chart.kind === "plot" ? ["", "", chart.x.title, chart.y.title, "low", "high"] : ["", "", ...chart.panels.map((p) => p.axis.title)];
    const rows = chart.kind === "plot"
      ? chart.series.flatMap((s) => s.points.map((p) => [s.name, p.label || "", p.x, p.y, ...(p.range || ["", ""])]))
      : chart.series.flatMap((s, i) => chart.categories.map((c, k) => [s, c, ...chart.panels.map((p) => p.bars[i][k].value)]));
    const table = element("table");
    const line = (parent, tag, cells) => parent.append(element("tr", {}, ...cells.map((c) => element(tag, { textContent: typeof c === "number" ? isoloop.valueText(c) : c, className: typeof c === "number" ? "n" : "" }))));
    line(table.createTHead(), "th", head);
    const body = table.createTBody();
    for (const row of rows) line(body, "td", row);
    details.append(element("div", { className: "scroll" }, table));
  });
  figure.append(details);
};

isoloop.setUpChart = function (figure, chart) {
  const state = { hidden: new Set(), update() {}, drawn: false };
  const draw = () => {
    if (figure.hidden) return;
    ({ plot: isoloop.drawPlot, bars: isoloop.drawBars, stacks: isoloop.drawStacks })[chart.kind](figure, chart, state);
    figure.dataset.drawn = "yes";
    state.drawn = true;
  };
  if (chart.kind !== "stacks") isoloop.numbers(figure, chart);
  if (chart.table) isoloop.link(chart.table).listen(() => state.update());
  let last = 0;
  new ResizeObserver(() => {
    const width = figure.clientWidth;
    if (width === last) return;
    last = width;
    draw();
  }).observe(figure);
  draw();
  return { chart, figure, draw, state };
};

// Figures about one row of a table: those of the row selected last, else of the first that has any.
isoloop.setUpDetails = function (table, figures) {
  const link = isoloop.link(table), rows = new Set(figures.map((f) => f.chart.row)), first = Math.min(...rows);
  const show = () => {
    const row = link.last !== null && rows.has(link.last) ? link.last : first;
    for (const f of figures) {
      const hide = f.chart.row !== row;
      if (f.figure.hidden === hide && f.state.drawn) continue;
      f.figure.hidden = hide;
      if (!hide) f.draw();
    }
  };
  link.listen(show);
  show();
};

isoloop.start = function () {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const linked = new Set(charts.map((c) => c.table).filter(Boolean));
  for (const box of document.querySelectorAll(".table")) isoloop.setUpTable(box, linked.has(box.dataset.table));
  const figures = new Map([...document.querySelectorAll("figure[data-chart]")].map((f) => [f.dataset.chart, f]));
  const made = charts.map((chart) => isoloop.setUpChart(figures.get(chart.name), chart));
  const details = new Map();
  for (const f of made) if (f.chart.row !== undefined) details.set(f.chart.table, [...(details.get(f.chart.table) || []), f]);
  for (const [table, of] of details) isoloop.setUpDetails(table, of);
  document.documentElement.dataset.ready = "yes";
};
isoloop.start();

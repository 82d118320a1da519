// Layer stacks side by side: tokens come in below, arrows back are loops.
"use strict";
isoloop.drawStacks = function (figure, chart) {
  const holder = figure.querySelector(".drawing"), width = Math.max(300, Math.min(holder.clientWidth || 680, 860));
  const columns = Math.max(1, Math.min(chart.stacks.length, Math.floor(width / 210))), rows = Math.ceil(chart.stacks.length / columns);
  const most = d3.max(chart.stacks, (s) => d3.sum(s.blocks, (b) => b.count)) || 1, slab = Math.min(16, 300 / most);
  const base = 48 + slab * most + 8 * (d3.max(chart.stacks, (s) => s.blocks.length) || 1), tall = base + 34, column = width / columns;
  const svg = isoloop.newSvg(holder, width, tall * rows, chart);
  chart.stacks.forEach((stack, i) => {
    const g = svg.append("g").attr("transform", `translate(${column * (i % columns)},${tall * Math.floor(i / columns)})`);
    const left = Math.min(column * 0.3, 96), wide = Math.min(110, column * 0.38), lows = [], highs = [];
    const text = (x, y, anchor, css, t) => g.append("text").attr("class", css).attr("text-anchor", anchor).attr("x", x).attr("y", y).text(t);
    const fit = isoloop.fit;
    let y = base;
    stack.blocks.forEach((block, b) => {
      const loops = stack.repeats.some((r) => r.first <= b && b <= r.last);
      lows.push(y);
      for (let l = 0; l < block.count; ++l) {
        y -= slab;
        g.append("rect").attr("class", "slab " + (loops ? "c1" : "c0")).attr("x", left).attr("y", y).attr("width", wide).attr("height", Math.max(slab - (slab > 4 ? 1.5 : 0.3), 0.3))
          .append("title").text(`${block.name}, layer ${l + 1} of ${block.count}` + (block.text ? `: ${block.text}` : ""));
      }
      highs.push(y);
      const middle = (lows[b] + y) / 2;
      text(left - 8, middle + 1, "end", "ink", fit(block.name, left - 8));
      text(left - 8, middle + 15, "end", "dim", `${block.count} layer${block.count === 1 ? "" : "s"}`);
      y -= 8;
    });
    for (const r of stack.repeats) {
      const x = left + wide + 4, high = highs[r.last], low = lows[r.first];
      g.append("path").attr("class", "curve c1").attr("fill", "none").attr("stroke-width", 1.8).attr("d", `M${x},${high + 4}h14a8,8 0 0 1 8,8V${low - 12}a8,8 0 0 1 -8,8h-11`);
      g.append("path").attr("class", "head c1").attr("d", `M${x},${low - 4}l9,-4.5v9z`);
      text(x + 30, (high + low) / 2 + 4, "start", "ink", "× " + r.times);
    }
    text(column / 2, 16, "middle", "ink", fit(stack.name, column - 8));
    text(column / 2, 33, "middle", "dim", fit(stack.text, column - 8));
    text(left + wide / 2, base + 20, "middle", "dim", "tokens in");
  });
};

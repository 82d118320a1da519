// Tables: sort by a column, filter by words and comparisons, select rows.
"use strict";
// The number at the front of a cell, or nothing: "1,234", "+0.44 %", "−3", "1e+20".
isoloop.number = function (text) {
  const found = /^[+\-−]?[\d,]*\.?\d+(e[+\-]?\d+)?/i.exec(text.trim());
  return found ? Number(found[0].replace(/,/g, "").replace("−", "-")) : null;
};

isoloop.compareCells = function (a, b, numeric) {
  if (numeric) {
    const x = isoloop.number(a), y = isoloop.number(b);
    if (x !== null || y !== null) return x === null ? 1 : y === null ? -1 : x - y;
  }
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  return a.localeCompare(b, "en", { numeric: true });
};

// "loop 3+6" needs both words somewhere in the row; "flops<0.5" compares the column whose title
// begins so (spaces left out). Returns a test of a row's texts, or null if a comparison names no column.
isoloop.parseFilter = function (text, titles) {
  const plain = (s) => s.toLowerCase().replace(/\s/g, "");
  const tests = [];
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const c = /^([^<>=]+)(<=|>=|<|>|=)([+\-]?[\d.,]+(?:e[+\-]?\d+)?)$/.exec(word);
    if (!c) { tests.push((row) => row.some((cell) => cell.toLowerCase().includes(word))); continue; }
    let at = titles.findIndex((t) => plain(t) === plain(c[1]));
    if (at < 0) at = titles.findIndex((t) => plain(t).startsWith(plain(c[1])));
    if (at < 0) return null;
    const value = isoloop.number(c[3]);
    const holds = { "<": (x) => x < value, ">": (x) => x > value, "<=": (x) => x <= value, ">=": (x) => x >= value, "=": (x) => x === value }[c[2]];
    tests.push((row) => { const x = isoloop.number(row[at]); return x !== null && holds(x); });
  }
  return (row) => tests.every((t) => t(row));
};

isoloop.setUpTable = function (box, linked) {
  const table = box.querySelector("table"), body = table.tBodies[0], head = table.tHead.rows[0];
  const rows = [...body.rows].map((tr, i) => ({ tr, index: i, texts: [...tr.cells].map((c) => c.textContent) }));
  const ruled = rows.map((r) => r.tr.classList.contains("rule"));
  const titles = [...head.cells].map((th) => th.dataset.title);
  const element = isoloop.element, bar = box.querySelector(".bar");
  if (rows.length < 2) linked = false;

  const sortBy = (column) => {
    const th = heads[column], numeric = th.classList.contains("n");
    const before = th.getAttribute("aria-sort");
    const next = before === "ascending" ? "descending" : before === "descending" ? null : "ascending";
    for (const each of heads) each.removeAttribute("aria-sort");
    if (next) th.setAttribute("aria-sort", next);
    const sorted = [...rows].sort((a, b) => {
      const x = a.texts[column], y = b.texts[column];
      const empty = (s) => (numeric ? isoloop.number(s) === null : !s);
      if (!next) return a.index - b.index;
      if (empty(x) || empty(y)) return empty(x) - empty(y) || a.index - b.index;  // always last
      const d = isoloop.compareCells(x, y, numeric);
      return (next === "descending" ? -d : d) || a.index - b.index;
    });
    sorted.forEach((r) => { r.tr.classList.toggle("rule", !next && ruled[r.index]); body.append(r.tr); });
  };
  const heads = [...head.cells];
  if (rows.length > 1) heads.forEach((th, column) => {
    const button = element("button", { type: "button" });
    button.append(...th.childNodes);
    button.addEventListener("click", () => sortBy(column));
    th.append(button);
  });

  const link = linked ? isoloop.link(box.dataset.table) : null;
  const status = element("span", { className: "dim" });
  status.setAttribute("role", "status");
  let only = null, input = null;
  const refresh = () => {
    const test = input ? isoloop.parseFilter(input.value, titles) : () => true;
    if (input) input.classList.toggle("wrong", test === null);
    const passing = new Set(rows.filter((r) => test === null || test(r.texts)).map((r) => r.index));
    const onlySelected = only && only.getAttribute("aria-pressed") === "true" && link.selected.size;
    let count = 0;
    for (const r of rows) {
      r.tr.hidden = !passing.has(r.index) || (onlySelected && !link.selected.has(r.index));
      count += r.tr.hidden ? 0 : 1;
    }
    const chosen = link && link.selected.size ? `, ${link.selected.size} selected` : "";
    status.textContent = test === null ? "no such column" : count === rows.length && !chosen ? "" : `${count} of ${rows.length} rows${chosen}`;
    return passing;
  };

  if (rows.length > 6) {
    input = element("input", { type: "search", placeholder: "filter: word or column<1" });
    input.setAttribute("aria-label", "Filter rows: words, or comparisons such as " + (titles.find((t, i) => heads[i].classList.contains("n")) || "x").replace(/\s/g, "") + "<1");
    input.addEventListener("input", () => { const passing = refresh(); if (link) link.filter(passing); });
    bar.append(input);
  }
  if (linked) {
    const pick = document.createElement("th");
    pick.className = "pick";
    pick.append(element("span", { className: "hidden-text", textContent: "select" }));
    head.prepend(pick);
    for (const r of rows) {
      const check = element("input", { type: "checkbox" });
      check.setAttribute("aria-label", "select " + r.texts[0]);
      check.addEventListener("change", () => link.toggle(r.index));
      const cell = r.tr.insertCell(0);
      cell.className = "pick";
      cell.append(check);
      r.check = check;
      r.tr.dataset.row = r.index;
      r.tr.addEventListener("click", (event) => { if (!event.target.closest("input,a") && !String(getSelection())) link.toggle(r.index); });
    }
    only = element("button", { type: "button", textContent: "only selected" });
    only.setAttribute("aria-pressed", "false");
    only.addEventListener("click", () => { only.setAttribute("aria-pressed", String(only.getAttribute("aria-pressed") !== "true")); refresh(); });
    const clear = element("button", { type: "button", textContent: "clear selection" });
    clear.addEventListener("click", () => link.choose([], false));
    bar.append(only, clear);
    const update = () => {
      only.hidden = clear.hidden = !link.selected.size;
      if (!link.selected.size) only.setAttribute("aria-pressed", "false");
      for (const r of rows) {
        r.check.checked = link.selected.has(r.index);
        r.tr.classList.toggle("selected", r.check.checked);
      }
      refresh();
    };
    link.listen(update);
    update();
  }
  bar.append(status);
};

// Which rows of which table are selected, and which pass its filter. Tables and charts listen.
"use strict";
var isoloop = {};
isoloop.links = new Map();

isoloop.link = function (table) {
  if (!isoloop.links.has(table)) {
    const link = {
      selected: new Set(), visible: null, last: null, listeners: [],
      listen(f) { link.listeners.push(f); },
      tell() { for (const f of link.listeners) f(link); },
      shown(row) { return link.visible === null || link.visible.has(row); },
      toggle(row) {
        if (!link.selected.delete(row)) { link.selected.add(row); link.last = row; }
        else if (link.last === row) link.last = [...link.selected].pop() ?? null;
        link.tell();
      },
      choose(rows, add) {
        if (!add) link.selected.clear();
        for (const row of rows) { link.selected.add(row); link.last = row; }
        if (!link.selected.size) link.last = null;
        link.tell();
      },
      filter(rows) { link.visible = rows; link.tell(); },
    };
    isoloop.links.set(table, link);
  }
  return isoloop.links.get(table);
};

// An element with properties and children; text is text, never markup.
isoloop.element = function (name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
};

// What the scripts of pages share. Whatever comes from data goes into a page as text: `el` sets text nodes and never HTML.
"use strict";
function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...some(children));
  return node;
}

const some = (children) => children.filter((child) => child || child === 0);
const percent = (chance) => Math.round(chance * 100) + "\u00a0%";

// A table. A row of one cell is the name of those below it.
function drawTable(rows) {
  if (!rows.length) return [];
  const cells = rows.map((row) => row.replace(/^\| /, " | ").split(/ \|(?: |$)/));
  return [el("table", null, el("tbody", null, ...cells.map((row) => el("tr", null, ...row.map((cell) =>
    el("td", { colspan: row.length === 1 ? cells[0].length : null }, cell))))))];
}

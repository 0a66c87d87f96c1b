// What every page of ours is built with. Whatever comes from data goes into the page as text: `el` sets text nodes and
// never HTML.
"use strict";
const parsed = new Map();
const data = (id) => {
  if (!parsed.has(id)) parsed.set(id, JSON.parse(document.getElementById(id).textContent));
  return parsed.get(id);
};

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

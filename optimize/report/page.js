// The error browser. Whatever comes from data goes into the page as text: `el` sets text nodes and never HTML.
"use strict";
(() => {
  const ROW = 56; // pixels, as in the style sheet
  const FAILED = "failed";
  const parsed = new Map();
  const data = (id) => {
    if (!parsed.has(id)) parsed.set(id, JSON.parse(document.getElementById(id).textContent));
    return parsed.get(id);
  };
  const { about, records } = data("records");
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), runway = byId("runway"), detail = byId("detail"), search = byId("search");
  const phone = matchMedia("(max-width: 760px)");

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
  const percent = (chance) => (chance * 100 < 1 ? "<1" : Math.round(chance * 100)) + " %";
  const colour = (label) => {
    const place = about.labels.indexOf(label);
    return place < 0 ? "vf" : "v" + place;
  };
  const dot = (label) => el("span", { class: "dot " + colour(label), "aria-hidden": "true" });

  // What became of a record and of each statement. A hit counts as the label that was said; a miss against the first.
  const hit = (statement) => statement.said !== null && statement.gold.includes(statement.said);
  const goldOf = (statement) => (hit(statement) ? statement.said : statement.gold[0]);
  const saidOf = (statement) => (statement.said === null ? FAILED : statement.said);
  const outcome = (record) => {
    if (record.failure !== null) return FAILED;
    if (record.right) return "right";
    return about.evidence && record.statements.every(hit) ? "evidence" : "wrong";
  };
  const WORDS = { all: "all", wrong: "wrong label", evidence: "wrong evidence", failed: FAILED, right: "right" };
  const MARKS = { wrong: "✗ wrong", evidence: "✗ evidence", failed: "! failed", right: "✓ right" };
  const outcomes = records.map(outcome);
  // How sure the surest wrong verdict of a record was; records without one come last.
  const sureness = records.map((record) =>
    Math.max(-1, ...record.statements.filter((s) => !hit(s)).map((s) => (s.chances.length ? Math.max(...s.chances) : 0))));
  let haystacks = null;
  const haystack = (k) => {
    haystacks = haystacks || new Array(records.length);
    if (haystacks[k] === undefined) {
      const record = records[k];
      haystacks[k] = [
        record.id, record.failure || "",
        ...record.statements.flatMap((s) => [s.text, s.said || "", ...s.gold]),
        ...record.exhibits.flatMap((e) => [e.key, e.text]),
      ].join("\n").toLowerCase();
    }
    return haystacks[k];
  };

  const chosen = { outcome: "all", gold: null, said: null, order: "file" };
  let found = [];
  let at = 0; // place in `found`

  function matches(k, words) {
    if (chosen.outcome !== "all" && outcomes[k] !== chosen.outcome) return false;
    if (chosen.gold !== null || chosen.said !== null) {
      const cell = records[k].statements.some((s) =>
        (chosen.gold === null || goldOf(s) === chosen.gold) && (chosen.said === null || saidOf(s) === chosen.said));
      if (!cell) return false;
    }
    return words.every((word) => haystack(k).includes(word));
  }

  function filter() {
    const current = found.length ? found[at] : undefined;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    for (let k = 0; k < records.length; k++) if (matches(k, words)) found.push(k);
    if (chosen.order === "surest") found.sort((a, b) => sureness[b] - sureness[a] || a - b);
    at = Math.max(0, found.indexOf(current));
    const narrowed = found.length < records.length || words.length || chosen.gold || chosen.said;
    byId("clear").hidden = !narrowed;
    const cell = [chosen.gold && "gold " + chosen.gold, chosen.said && "predicted " + chosen.said].filter(Boolean);
    byId("found").textContent =
      `${found.length} of ${records.length} records` + (cell.length ? ": " + cell.join(", ") : "");
    press();
    runway.style.height = found.length * ROW + "px";
    list.scrollTop = Math.max(0, at * ROW - list.clientHeight / 2);
    drawRows();
    drawRecord();
  }

  function clear() {
    Object.assign(chosen, { outcome: "all", gold: null, said: null });
    search.value = "";
    filter();
  }

  // --- the list: only the rows in sight are in the page
  function drawRows() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
    const last = Math.min(found.length, first + Math.ceil(list.clientHeight / ROW) + 10);
    runway.replaceChildren(...found.slice(first, last).map((k, offset) => drawRow(k, first + offset)));
    list.setAttribute("aria-activedescendant", found.length ? "row-" + found[at] : "");
  }

  function drawRow(k, place) {
    const record = records[k];
    const row = el("div",
      { class: "row", id: "row-" + k, role: "option", "aria-selected": place === at ? "true" : "false", onclick: () => go(place, true) },
      el("div", { class: "top" },
        el("span", null, record.id),
        el("span", { class: "cells", "aria-hidden": "true" },
          ...record.statements.slice(0, 16).map((s) => el("i", { class: colour(s.said) + (hit(s) ? "" : " wrong") }))),
        el("span", { class: "verdict " + outcomes[k] }, MARKS[outcomes[k]])),
      el("div", { class: "words" }, (record.statements.find((s) => !hit(s)) || record.statements[0]).text));
    row.style.top = place * ROW + "px";
    return row;
  }

  // --- one record
  function go(place, read) {
    if (place < 0 || place >= found.length) return;
    at = place;
    if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
    else if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
    drawRows();
    if (read) document.body.classList.add("reading");
    drawRecord();
    if (document.activeElement === document.body) detail.focus({ preventScroll: true }); // arrows then scroll the record
  }

  function drawRecord() {
    detail.scrollTop = 0;
    if (!found.length) {
      detail.replaceChildren(el("p", { class: "empty" }, "No record is like that."));
      return;
    }
    const k = found[at], record = records[k];
    const step = (text, title, to) =>
      el("button", { class: "step", type: "button", title, disabled: to < 0 || to >= found.length, onclick: () => go(to) }, text);
    detail.replaceChildren(...some([
      el("div", { class: "bar" },
        el("button", { class: "step back", type: "button", onclick: leave }, "‹ List"),
        el("span", { class: "id" }, record.id),
        el("span", { class: "verdict " + outcomes[k] }, MARKS[outcomes[k]]),
        step("‹", "Previous (k)", at - 1), step("›", "Next (j)", at + 1)),
      record.failure !== null && el("p", { class: "failure" }, "Failed: " + record.failure),
      el("h2", null, about.evidence ? "Claim" : "Sentences",
        el("span", null, " · bars: how likely each label is; a decision layer may say another than the likeliest")),
      ...record.statements.map(drawStatement),
      ...drawExhibits(record),
      drawCalls(record),
    ]));
    try { history.replaceState(null, "", "#" + encodeURIComponent(record.id)); } catch { /* a sandboxed frame */ }
  }

  function drawStatement(statement) {
    const right = hit(statement);
    const gold = [].concat(...statement.gold.map((label) => [dot(label), label]));
    const said = statement.said === null ? [el("b", null, "no answer")] : [dot(statement.said), el("b", null, statement.said)];
    const likely = statement.chances.map((chance, place) => [chance, place]).sort((a, b) => b[0] - a[0]);
    return el("div", { class: "statement " + colour(statement.said) },
      el("p", null, statement.text),
      el("div", { class: "said" },
        el("span", null, ...said),
        right ? el("span", { class: "verdict right" }, "✓")
          : el("span", null, el("span", { class: "verdict wrong" }, "✗ gold:"), ...gold),
        right && statement.gold.length > 1 && el("span", { class: "quiet" }, "gold: ", ...gold)),
      likely.length > 0 && drawChances(likely));
  }

  function drawChances(likely) {
    const bar = el("div", { class: "chances", "aria-hidden": "true" });
    for (const [chance, place] of likely) {
      const part = el("i", { class: "v" + place });
      part.style.flexGrow = chance;
      bar.append(part);
    }
    const odds = likely.filter(([chance]) => chance >= 0.005).map(([chance, place]) => `${about.labels[place]} ${percent(chance)}`);
    return el("div", null, bar, el("div", { class: "odds" }, odds.join(" · ")));
  }

  function drawExhibits(record) {
    const title = (text) => el("h2", null, text);
    if (!about.evidence) {
      const none = el("p", { class: "quiet" }, "None was given.");
      return [title("Evidence"), ...(record.exhibits.length ? record.exhibits.map(drawExhibit) : [none])];
    }
    // Of a paper: first what decides, then the rest of what the model read.
    const place = (exhibit) => exhibit.chosen || Infinity;
    const marked = record.exhibits.filter((exhibit) => exhibit.gold || exhibit.chosen)
      .sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
    const rest = record.exhibits.filter((exhibit) => !exhibit.gold && !exhibit.chosen);
    const none = el("p", { class: "quiet" }, "None: no paragraph is gold and none was chosen.");
    return [
      title("Evidence"), ...(marked.length ? marked.map(drawExhibit) : [none]),
      title(`Also read by the model: ${rest.length} paragraphs`), ...rest.map(drawExhibit),
    ];
  }

  function drawExhibit(exhibit) {
    const inlined = exhibit.picture && Object.hasOwn(data("pictures"), exhibit.picture);
    const marks = [exhibit.gold && "gold", exhibit.chosen && "chosen"].filter(Boolean);
    if (about.evidence && !marks.length) marks.push("unmarked");
    return el("div", { class: ["exhibit", ...marks].join(" ") },
      el("div", { class: "key" },
        el("b", null, exhibit.key),
        exhibit.chosen > 0 && el("span", { class: "badge chosen" }, "chosen, place " + exhibit.chosen),
        exhibit.gold && el("span", { class: "badge gold" }, "gold"),
        !exhibit.shown && el("span", { class: "badge missed" }, "not shown to the model"),
        exhibit.picture && !inlined && el("span", null, exhibit.picture)),
      exhibit.text && el("p", null, exhibit.text),
      inlined && el("img", {
        src: data("pictures")[exhibit.picture], alt: exhibit.text || exhibit.key,
        onclick: (event) => event.target.classList.toggle("large"),
      }));
  }

  function drawCalls(record) {
    const calls = record.calls.length;
    const box = el("details", { class: "prompt", id: "prompt" },
      el("summary", null, calls === 1 ? "Prompt and raw answer" : `Prompts and raw answers (${calls} calls)`));
    box.addEventListener("toggle", () => {
      if (!box.open) return;
      if (box.childElementCount === 1) box.append(...drawPrompts(record));
      box.scrollIntoView({ block: "start" });
    });
    return box;
  }

  function drawPrompts(record) {
    if (!record.calls.length)
      return [el("p", { class: "quiet" }, "None: the call failed, or its answer is no longer in the cache.")];
    return record.calls.flatMap((call, number) => some([
      record.calls.length > 1 && el("h2", null, `Call ${number + 1}`),
      el("div", { class: "role" }, "raw answer"), el("pre", null, call.answer === null ? "(none)" : call.answer),
      // The last message asks about this record; what stands before it (instruction, demos) repeats in every call.
      ...[...call.messages].reverse().flatMap(([role, text]) =>
        [el("div", { class: "role" }, role), el("pre", null, data("texts")[text])]),
    ]));
  }

  function leave() {
    document.body.classList.remove("reading");
    drawRows();
  }

  // --- filters
  function drawOutcomes() {
    const count = { all: records.length };
    for (const name of outcomes) count[name] = (count[name] || 0) + 1;
    byId("outcomes").replaceChildren(...Object.entries(WORDS)
      .filter(([name]) => name in count)
      .map(([name, words]) =>
        el("button", { type: "button", "data-outcome": name, onclick: () => { chosen.outcome = name; filter(); } },
          `${words} ${count[name]}`)));
  }

  function drawMatrix() {
    const cells = new Map();
    let failed = false, most = {};
    for (const record of records) for (const s of record.statements) {
      const key = JSON.stringify([goldOf(s), saidOf(s)]);
      cells.set(key, (cells.get(key) || 0) + 1);
      failed = failed || s.said === null;
    }
    for (const [key, count] of cells) {
      const gold = JSON.parse(key)[0];
      most[gold] = (most[gold] || 0) + count;
    }
    const columns = failed ? [...about.labels, FAILED] : about.labels;
    const choose = (gold, said) => {
      const same = chosen.gold === gold && chosen.said === said;
      Object.assign(chosen, same ? { gold: null, said: null } : { gold, said });
      filter();
    };
    const button = (gold, said, ...content) => el("button",
      { type: "button", "data-gold": gold, "data-said": said, onclick: () => choose(gold, said) }, ...content);
    const head = el("tr", null, el("th", { class: "quiet" }, "gold ↓  predicted →"),
      ...columns.map((said) => el("th", { scope: "col" }, button(null, said, dot(said), said))));
    const rows = about.labels.map((gold) => el("tr", null,
      el("th", { scope: "row" }, button(gold, null, dot(gold), gold)),
      ...columns.map((said) => {
        const count = cells.get(JSON.stringify([gold, said])) || 0;
        const one = button(gold, said, String(count));
        one.disabled = !count;
        one.title = `gold ${gold}, predicted ${said}`;
        const cell = el("td", { class: gold === said ? "hit" : "miss" }, one);
        cell.style.setProperty("--heat", most[gold] ? count / most[gold] : 0);
        return cell;
      })));
    byId("matrix").replaceChildren(el("thead", null, head), el("tbody", null, ...rows));
  }

  function press() {
    for (const one of document.querySelectorAll("#outcomes button"))
      one.setAttribute("aria-pressed", String(one.dataset.outcome === chosen.outcome));
    for (const one of document.querySelectorAll("#matrix button")) {
      const { gold = null, said = null } = one.dataset;
      const on = (chosen.gold !== null || chosen.said !== null) && gold === chosen.gold && said === chosen.said;
      one.setAttribute("aria-pressed", String(on));
    }
  }

  // --- what the reader does
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 60);
  });
  byId("order").addEventListener("change", (event) => { chosen.order = event.target.value; filter(); });
  byId("clear").addEventListener("click", clear);
  list.addEventListener("scroll", drawRows, { passive: true });
  addEventListener("resize", drawRows);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    if (event.key === "Escape") {
      if (typing) search.blur();
      if (document.body.classList.contains("reading") && phone.matches) leave();
      else clear();
    } else if (typing && event.key === "Enter") {
      search.blur();
      go(at, true);
    } else if (typing || event.target.tagName === "SELECT") {
      return;
    } else if (event.key === "j" || event.key === "ArrowRight" || (event.key === "ArrowDown" && event.target === list)) {
      go(at + 1);
    } else if (event.key === "k" || event.key === "ArrowLeft" || (event.key === "ArrowUp" && event.target === list)) {
      go(at - 1);
    } else if (event.key === "/") {
      leave();
      search.focus();
      search.select();
    } else if (event.key === "p" && byId("prompt")) {
      byId("prompt").open = !byId("prompt").open;
    } else {
      return;
    }
    event.preventDefault();
  });

  if (phone.matches) byId("confusion").open = false;
  drawOutcomes();
  drawMatrix();
  let asked = "";
  try { asked = decodeURIComponent(location.hash.slice(1)); } catch { /* not an address of ours */ }
  filter();
  const place = asked ? found.findIndex((k) => records[k].id === asked) : -1;
  if (place >= 0) go(place, true);
})();

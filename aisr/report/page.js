// What the reader sees and does: list, one record, filters, keys.
(() => {
  const ROW = 56; // pixels, as in the style sheet
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), runway = byId("runway"), detail = byId("detail"), search = byId("search");
  const phone = matchMedia("(max-width: 760px)");

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

  const chosen = { outcome: errors, gold: null, said: null, order: "file" };
  let found = [];
  let at = 0; // place in `found`

  function matches(k, words) {
    if (chosen.outcome === "errors" ? outcomes[k] === "right" : ![outcomes[k], "all"].includes(chosen.outcome)) return false;
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
    if (chosen.order === "unsure") found.sort((a, b) => sure(records[a]) - sure(records[b]) || a - b);
    at = Math.max(0, found.indexOf(current));
    const narrowed = found.length < records.length || words.length || chosen.gold || chosen.said;
    byId("clear").hidden = !narrowed;
    const kept = [
      chosen.outcome !== "all" && WORDS[chosen.outcome],
      chosen.gold && "gold " + chosen.gold, chosen.said && "predicted " + chosen.said,
    ].filter(Boolean);
    byId("found").textContent =
      `${found.length} of ${records.length} records` + (kept.length ? ": " + kept.join(", ") : "");
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
      drawWords(record));
    row.style.top = place * ROW + "px";
    return row;
  }

  function drawWords(record) {
    const missed = record.statements.find((s) => !hit(s));
    if (!missed || !about.labels.length) return el("div", { class: "words" }, record.statements[0].text);
    const [gold, said] = [goldOf(missed), saidOf(missed)];
    return el("div", { class: "words" },
      el("span", { class: "swap", title: `gold ${gold}, predicted ${said}` },
        dot(gold), initials(gold), el("span", { class: "quiet" }, "as"), dot(said), initials(said)),
      missed.text);
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
        record.score != null && el("span", { class: "quiet" }, (100 * record.score).toFixed(1)),
        drawMark(record, outcomes[k]),
        step("‹", "Previous (k)", at - 1), step("›", "Next (j)", at + 1)),
      record.failure !== null && el("p", { class: "failure" }, "Failed: " + record.failure),
      el("div", { class: "pair" },
        el("div", { class: "said-of" },
          el("h2", null, about.labels.length === 0 ? "Answer" : about.evidence ? "Claim" : "Sentences",
            about.labels.length > 0 && el("span", null, " · bars: how likely each label is")),
          record.context && el("p", { class: "quiet" }, record.context),
          ...record.statements.map(drawStatement)),
        el("div", null, ...drawExhibits(record))),
      drawCalls(record),
    ]));
    try { history.replaceState(null, "", "#" + encodeURIComponent(record.id)); } catch { /* a sandboxed frame */ }
  }

  // Of a long paragraph: how many sentences are wrong, and a way to each.
  function drawMark(record, became) {
    const wrong = record.statements.filter((s) => !hit(s)).length;
    if (became !== "wrong" || record.statements.length < 2)
      return el("span", { class: "verdict " + became }, MARKS[became]);
    return el("button", { class: "step verdict", type: "button", title: "Next wrong sentence (w)", onclick: toWrong },
      `✗ ${wrong} of ${record.statements.length}`);
  }

  function toWrong() {
    const wrong = [...detail.querySelectorAll(".statement.wrong")];
    const last = wrong.findIndex((one) => one.classList.contains("here"));
    if (last >= 0) wrong[last].classList.remove("here");
    const next = wrong[(last + 1) % wrong.length];
    if (!next) return;
    next.classList.add("here");
    next.scrollIntoView({ block: "nearest" });
  }

  function leave() {
    document.body.classList.remove("reading");
    drawRows();
  }

  // --- filters
  function drawOutcomes() {
    const count = { all: records.length };
    if (errors === "errors") count.errors = outcomes.filter((name) => name !== "right").length;
    for (const name of outcomes) count[name] = (count[name] || 0) + 1;
    byId("outcomes").replaceChildren(...Object.entries(WORDS)
      .filter(([name]) => name in count)
      .map(([name, words]) =>
        el("button", { type: "button", "data-outcome": name, onclick: () => { chosen.outcome = name; filter(); } },
          `${words} ${count[name]}`)));
  }

  function choose(gold, said) {
    const same = chosen.gold === gold && chosen.said === said;
    // The counts are those of all records, and so is what a click finds.
    Object.assign(chosen, { outcome: "all" }, same ? { gold: null, said: null } : { gold, said });
    filter();
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
    } else if (event.key === "e") {
      chosen.outcome = chosen.outcome === errors ? "all" : errors;
      filter();
    } else if (event.key === "w") {
      toWrong();
    } else if (event.key === "p" && byId("prompt")) {
      byId("prompt").open = !byId("prompt").open;
    } else {
      return;
    }
    event.preventDefault();
  });

  if (phone.matches) byId("confusion").open = false;
  drawOutcomes();
  drawMatrix(choose);
  let asked = "";
  try { asked = decodeURIComponent(location.hash.slice(1)); } catch { /* not an address of ours */ }
  const named = asked ? records.findIndex((record) => record.id === asked) : -1;
  if (named >= 0 && outcomes[named] === "right") chosen.outcome = "all";
  filter();
  if (named >= 0) go(found.indexOf(named), true);
})();

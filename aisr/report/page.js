// What the reader sees and does: list, one record, filters, keys.
(() => {
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), detail = byId("detail"), search = byId("search");
  const phone = matchMedia("(max-width: 760px)");

  const chosen = { outcome: errors, gold: null, said: null };
  let found = []; // places in `records`
  let at = 0; // place in `found`

  const texts = records.map((record) => [ // of each record, for the search
    record.id, record.failure || "",
    ...record.statements.flatMap((s) => [s.text, s.said || "", ...s.gold]),
    ...record.evidence.flatMap((e) => [e.key, e.text, ...e.rows]),
  ].join("\n").toLowerCase());

  function matches(k, words) {
    const { outcome, gold, said } = chosen;
    if (outcome === "errors" ? outcomes[k] === "right" : ![outcomes[k], "all"].includes(outcome)) return false;
    const isInCell = (s) => (gold === null || goldOf(s) === gold) && (said === null || saidOf(s) === said);
    return records[k].statements.some(isInCell) && words.every((word) => texts[k].includes(word));
  }

  // Whoever looks for surest mistakes or least sure records finds those without a probability last.
  const ORDERS = { file: () => 0, surest: (k) => -sureness[k], unsure: (k) => records[k].confidence ?? 2 };

  function filter() {
    const current = found[at], rank = ORDERS[byId("order").value];
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [...records.keys()].filter((k) => matches(k, words)).sort((a, b) => rank(a) - rank(b) || a - b);
    at = Math.max(0, found.indexOf(current));
    const kept = [
      chosen.outcome !== "all" && WORDS[chosen.outcome],
      chosen.gold && "gold " + chosen.gold, chosen.said && "predicted " + chosen.said,
    ].filter(Boolean);
    byId("clear").hidden = !(kept.length || words.length);
    byId("found").textContent =
      `${found.length} of ${records.length} records` + (kept.length ? ": " + kept.join(", ") : "");
    press();
    list.replaceChildren(...found.map(rowOf));
    drawRecord();
  }

  function press() {
    const { outcome, gold, said } = chosen;
    for (const one of document.querySelectorAll("#outcomes button"))
      one.setAttribute("aria-pressed", one.dataset.outcome === outcome);
    for (const one of document.querySelectorAll("#matrix button"))
      one.setAttribute("aria-pressed",
        (gold ?? said) !== null && gold === (one.dataset.gold ?? null) && said === (one.dataset.said ?? null));
  }

  // What a button shows is counted over all records, and so is what a click on it finds.
  function choose(outcome, gold = null, said = null) {
    const same = gold === chosen.gold && said === chosen.said;
    Object.assign(chosen, { outcome }, same ? { gold: null, said: null } : { gold, said });
    filter();
  }

  function clear() {
    search.value = "";
    choose("all");
  }

  // --- the list; the style sheet has the browser lay out only the rows in sight
  const rows = [];
  const rowOf = (k) => (rows[k] ??= drawRow(k));

  function drawRow(k) {
    const record = records[k];
    const cells = record.statements.slice(0, 16).map((s) => el("i", { class: colour(s.said) + (hit(s) ? "" : " wrong") }));
    return el("div", { class: "row", id: "row-" + k, role: "option", onclick: () => go(found.indexOf(k), true) },
      el("div", { class: "top" },
        el("span", null, record.id),
        el("span", { class: "cells", "aria-hidden": "true" }, ...cells),
        el("span", { class: "verdict " + outcomes[k] }, MARKS[outcomes[k]])),
      drawWords(record));
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

  function select(k) {
    list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    rowOf(k).setAttribute("aria-selected", "true");
    rowOf(k).scrollIntoView({ block: "nearest" });
    list.setAttribute("aria-activedescendant", "row-" + k);
  }

  // --- one record
  function go(place, read) {
    if (place < 0 || place >= found.length) return;
    at = place;
    if (read) document.body.classList.add("reading");
    drawRecord();
    if (document.activeElement === document.body) detail.focus({ preventScroll: true }); // arrows then scroll the record
  }

  function drawRecord() {
    detail.scrollTop = 0;
    if (!found.length) return void detail.replaceChildren(el("p", { class: "empty" }, "No record is like that."));
    const k = found[at], record = records[k];
    const step = (text, title, to) =>
      el("button", { class: "step", type: "button", title, disabled: to < 0 || to >= found.length, onclick: () => go(to) }, text);
    select(k);
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
            record.statements.some((one) => one.chances?.length) && el("span", null, " · bars: how likely each label is")),
          record.context && el("p", { class: "quiet" }, record.context),
          ...record.statements.map(drawStatement)),
        el("div", null, ...drawEvidence(record))),
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
    const next = wrong[(last + 1) % wrong.length];
    wrong[last]?.classList.remove("here");
    next?.classList.add("here");
    next?.scrollIntoView({ block: "nearest" });
  }

  function leave() {
    document.body.classList.remove("reading");
    if (found.length) select(found[at]);
  }

  // --- what the reader does
  function drawOutcomes() {
    const count = { all: records.length, errors: outcomes.filter((name) => name !== "right").length };
    for (const name of outcomes) count[name] = (count[name] || 0) + 1;
    const names = Object.keys(WORDS).filter((name) => name in count && (name !== "errors" || errors === "errors"));
    byId("outcomes").replaceChildren(...names.map((name) =>
      el("button", { type: "button", "data-outcome": name, onclick: () => { chosen.outcome = name; filter(); } },
        `${WORDS[name]} ${count[name]}`)));
  }

  const KEYS = {
    j: () => go(at + 1),
    k: () => go(at - 1),
    e: () => { chosen.outcome = chosen.outcome === errors ? "all" : errors; filter(); },
    w: toWrong,
    p: () => { if (byId("prompt")) byId("prompt").open = !byId("prompt").open; },
    "/": () => { leave(); search.focus(); search.select(); },
    Escape: () => (document.body.classList.contains("reading") && phone.matches ? leave() : clear()),
  };
  Object.assign(KEYS, { ArrowRight: KEYS.j, ArrowLeft: KEYS.k });
  const ON_LIST = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };
  const ON_SEARCH = { Enter: () => go(at, true), Escape: KEYS.Escape };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const typing = event.target === search;
    const act = typing ? ON_SEARCH[event.key] : KEYS[event.key] || (event.target === list && ON_LIST[event.key]);
    if (!act) return;
    event.preventDefault();
    if (typing) search.blur();
    act();
  });

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 60);
  });
  byId("order").addEventListener("change", filter);
  byId("order").hidden = records.every((record) => record.confidence == null);
  byId("clear").addEventListener("click", clear);

  if (phone.matches) byId("confusion").open = false;
  drawOutcomes();
  drawMatrix((gold, said) => choose("all", gold, said));
  const named = records.findIndex((record) => "#" + encodeURIComponent(record.id) === location.hash);
  if (named >= 0 && outcomes[named] === "right") chosen.outcome = "all";
  filter();
  if (named >= 0) go(found.indexOf(named), true);
})();

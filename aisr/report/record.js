// One record as the page draws it, and the table of gold against predicted labels.
const parsed = {};
const data = (id) => (parsed[id] ??= JSON.parse(document.getElementById(id).textContent));

// The error browser: what became of records and statements, and how they are named and coloured.
const FAILED = "failed";
const { about, records } = data("records");

const initials = (label) => (label === FAILED ? label : label.split(" ").map((word) => word[0]).join(""));
const colour = (label) => (about.labels.includes(label) ? "v" + about.labels.indexOf(label) : "vf");
const dot = (label) => el("span", { class: "dot " + colour(label), "aria-hidden": "true" });

// What became of a record and of each statement. A hit counts as the label that was said; a miss against the first.
// A task without labels says of a whole record whether it is right.
const hit = (statement) => statement.right ?? (statement.said !== null && statement.gold.includes(statement.said));
const goldOf = (statement) => (hit(statement) ? statement.said : statement.gold[0]);
const saidOf = (statement) => (statement.said === null ? FAILED : statement.said);
const outcome = (record) => {
  if (record.failure !== null) return FAILED;
  if (record.right) return "right";
  return about.evidence && record.statements.every(hit) ? "evidence" : "wrong";
};
const WORDS = {
  errors: "all errors", wrong: "wrong label", evidence: "wrong evidence", failed: FAILED, right: "right", all: "all",
};
const MARKS = { wrong: "✗ wrong", evidence: "✗ evidence", failed: "! failed", right: "✓ right" };
const outcomes = records.map(outcome);
// Whoever opens the page looks for errors: it begins with all of them, by the name of their kind where there is one.
const kinds = [...new Set(outcomes)].filter((name) => name !== "right");
const errors = kinds.length > 1 ? "errors" : kinds[0] || "all";
// How sure the surest wrong verdict of a record was; -1 without one.
const sureness = records.map((record) =>
  Math.max(-1, ...record.statements.filter((s) => !hit(s)).map((s) => (s.chances.length ? Math.max(...s.chances) : 0))));

// A statement of a record: its words, what was said of them and how likely.
function drawStatement(statement) {
  const right = hit(statement);
  const gold = [].concat(...statement.gold.map((label) => [dot(label), label]));
  const said = statement.said === null ? [el("b", null, "no answer")] : [dot(statement.said), el("b", null, statement.said)];
  const likely = statement.chances.map((chance, place) => [chance, place]).sort((a, b) => b[0] - a[0]);
  return el("div", { class: "statement " + colour(statement.said) + (right ? "" : " wrong") },
    el("p", null, statement.text),
    el("div", { class: "said" },
      el("span", null, ...said),
      right ? el("span", { class: "verdict right" }, "✓")
        : el("span", null, el("span", { class: "verdict wrong" }, "✗ gold:"), ...gold),
      right && statement.gold.length > 1 && el("span", { class: "quiet" }, "gold: ", ...gold),
      likely.length > 0 && el("span", { class: "odds" }, odds(likely))),
    likely.length > 0 && drawChances(likely));
}

const odds = (likely) => likely.filter(([chance]) => chance >= 0.01)
  .map(([chance, place]) => `${about.labels[place]} ${percent(chance)}`.replaceAll(" ", "\u00a0")).join(" · ");

function drawChances(likely) {
  return el("div", { class: "chances", "aria-hidden": "true" }, ...likely.map(([chance, place]) => {
    const part = el("i", { class: "v" + place });
    part.style.flexGrow = chance;
    return part;
  }));
}

// What a record is judged by: its evidence, and behind that what the model was sent and what it answered.
function drawEvidence(record) {
  const section = (title, pieces, none) =>
    [el("h2", null, title), ...pieces.map(drawPiece), !pieces.length && none && el("p", { class: "quiet" }, none)];
  if (!about.evidence) return some(section("Evidence", record.evidence, "None was given."));
  // Of a paper: first what decides, then the rest of what the model read.
  const place = (piece) => piece.chosen || record.evidence.length;
  const marked = record.evidence.filter((piece) => piece.gold || piece.chosen).sort((a, b) => place(a) - place(b));
  const rest = record.evidence.filter((piece) => !piece.gold && !piece.chosen);
  return some([
    ...section("Evidence", marked, "None: no paragraph is gold and none was chosen."),
    ...section(`Also read by the model: ${rest.length} paragraphs`, rest, ""),
  ]);
}

function drawPiece(piece) {
  const { text, rows } = piece;
  const inlined = piece.picture && Object.hasOwn(data("pictures"), piece.picture);
  const marks = [piece.gold && "gold", piece.chosen && "chosen"].filter(Boolean);
  if (about.evidence && !marks.length) marks.push("unmarked");
  return el("div", { class: ["piece", ...marks].join(" ") },
    el("div", { class: "key" },
      el("b", null, piece.key),
      piece.chosen > 0 && el("span", { class: "badge chosen" }, "chosen, place " + piece.chosen),
      piece.gold && el("span", { class: "badge gold" }, "gold"),
      !piece.shown && el("span", { class: "badge missed" }, "not shown to the model"),
      piece.picture && !inlined && el("span", null, piece.picture)),
    text && el("p", null, text),
    ...drawTable(rows),
    inlined && el("img", {
      src: data("pictures")[piece.picture], alt: text || piece.key,
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

// A call in the order of the prompt: instruction, demos (folded), the question about this record, the answer.
function drawPrompts(record) {
  if (!record.calls.length)
    return [el("p", { class: "quiet" }, "None: the call failed, or its answer is no longer in the cache.")];
  const message = (name, text) => [el("div", { class: "role" }, name), el("pre", null, text)];
  return record.calls.flatMap((call, number) => {
    const texts = call.messages.map(([role, text]) => [role, data("texts")[text]]);
    const first = texts.findIndex(([role]) => role !== "system");
    const demos = texts.slice(first, -1);
    const pairs = demos.filter(([role]) => role === "user").length;
    let demo = 0;
    return some([
      record.calls.length > 1 && el("h2", null, `Call ${number + 1}`),
      ...texts.slice(0, first).flatMap(([, text]) => message("instruction", text)),
      demos.length > 0 && el("details", { class: "demos" },
        el("summary", null, pairs === 1 ? "1 demo" : `${pairs} demos`),
        ...demos.flatMap(([role, text]) =>
          message(role === "user" ? `demo ${++demo}` : `answer of demo ${demo}`, text))),
      ...(first < 0 ? [] : message("this record", texts.at(-1)[1])),
      ...message("raw answer", call.answer === null ? "(none)" : call.answer),
    ]);
  });
}

// Gold labels against predicted ones, counted over all records: a table of which each cell filters.
// choose: what a click on a cell does, with its labels; null: of any. F1 (x100) counts as the official evaluator does.
function drawMatrix(choose) {
  const { labels } = about;
  if (!labels.length) return;
  const pairs = records.flatMap((record) => record.statements.map((s) => [goldOf(s), saidOf(s)]));
  const count = (gold, said) => pairs.filter((pair) => pair[0] === (gold ?? pair[0]) && pair[1] === (said ?? pair[1])).length;
  const f1 = (label) => (200 * count(label, label)) / (count(label, null) + count(null, label) || 1);
  const button = (gold, said, title, ...content) => el("button",
    { type: "button", "data-gold": gold, "data-said": said, title, onclick: () => choose(gold, said) }, ...content);

  const columns = count(null, FAILED) ? [...labels, FAILED] : labels;
  const head = el("tr", null, el("th", { class: "quiet" }, "gold ↓  predicted →"),
    ...columns.map((said) => el("th", { scope: "col" },
      button(null, said, `predicted ${said}`, said !== FAILED && dot(said), initials(said)))),
    el("th", { scope: "col", class: "f1" }, "F1"));
  const rows = labels.map((gold) => el("tr", null,
    el("th", { scope: "row" }, button(gold, null, null, dot(gold), el("b", null, initials(gold)), gold)),
    ...columns.map((said) => {
      const times = count(gold, said);
      const one = button(gold, said, `gold ${gold}, predicted ${said}`, String(times));
      one.disabled = !times;
      const cell = el("td", { class: gold === said ? "hit" : "miss" }, one);
      cell.style.setProperty("--heat", times / (count(gold, null) || 1));
      return cell;
    }),
    el("td", { class: "f1" }, f1(gold).toFixed(0))));
  document.getElementById("macro").textContent = (labels.reduce((sum, label) => sum + f1(label), 0) / labels.length).toFixed(1);
  document.getElementById("matrix").replaceChildren(el("thead", null, head), el("tbody", null, ...rows));
}

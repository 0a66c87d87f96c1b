// The error browser: what became of records and statements, and how they are named and coloured.
const FAILED = "failed";
const { about, records } = data("records");

const initials = (label) => (label === FAILED ? label : label.split(" ").map((word) => word[0]).join(""));
const colour = (label) => {
  const place = about.labels.indexOf(label);
  return place < 0 ? "vf" : "v" + place;
};
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
// How sure the surest wrong verdict of a record was; records without one come last.
const sureness = records.map((record) =>
  Math.max(-1, ...record.statements.filter((s) => !hit(s)).map((s) => (s.chances.length ? Math.max(...s.chances) : 0))));

// How sure the program is of a record; records without a probability come last.
const sure = (record) => record.confidence ?? 2;

// How often each gold label was given each label; F1 (x100) counts as the official evaluator does.
function confusion() {
  const counts = new Map();
  const key = (gold, said) => JSON.stringify([gold, said]);
  for (const record of records) for (const s of record.statements) {
    const cell = key(goldOf(s), saidOf(s));
    counts.set(cell, (counts.get(cell) || 0) + 1);
  }
  const times = (gold, said) => counts.get(key(gold, said)) || 0;
  const sum = (labels, count) => labels.reduce((total, label) => total + count(label), 0);
  const most = (gold) => sum([...about.labels, FAILED], (said) => times(gold, said));
  const failed = sum(about.labels, (gold) => times(gold, FAILED)) > 0;
  const f1 = (label) => (200 * times(label, label)) / (most(label) + sum(about.labels, (gold) => times(gold, label)) || 1);
  return { times, most, failed, f1 };
}

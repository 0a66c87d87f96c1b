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

// Gold labels against predicted ones, counted over all records: a table of which each cell filters.
// choose: what a click on a cell does, with its labels; null: of any.
function drawMatrix(choose) {
  if (!about.labels.length) return;
  const { times, most, failed, f1 } = confusion();
  const columns = failed ? [...about.labels, FAILED] : about.labels;
  const button = (gold, said, ...content) => el("button",
    { type: "button", "data-gold": gold, "data-said": said, onclick: () => choose(gold, said) }, ...content);
  const head = el("tr", null, el("th", { class: "quiet" }, "gold ↓  predicted →"),
    ...columns.map((said) => {
      const one = button(null, said, said !== FAILED && dot(said), initials(said));
      one.title = `predicted ${said}`;
      return el("th", { scope: "col" }, one);
    }),
    el("th", { scope: "col", class: "f1" }, "F1"));
  const rows = about.labels.map((gold) => el("tr", null,
    el("th", { scope: "row" }, button(gold, null, dot(gold), el("b", null, initials(gold)), gold)),
    ...columns.map((said) => {
      const count = times(gold, said);
      const one = button(gold, said, String(count));
      one.disabled = !count;
      one.title = `gold ${gold}, predicted ${said}`;
      const cell = el("td", { class: gold === said ? "hit" : "miss" }, one);
      cell.style.setProperty("--heat", count / (most(gold) || 1));
      return cell;
    }),
    el("td", { class: "f1" }, f1(gold).toFixed(0))));
  document.getElementById("macro").textContent = (about.labels.reduce((sum, label) => sum + f1(label), 0) / about.labels.length).toFixed(1);
  document.getElementById("matrix").replaceChildren(el("thead", null, head), el("tbody", null, ...rows));
}

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

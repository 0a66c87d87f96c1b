// A statement of a record: its words, what was said of them and how likely.
function drawStatement(statement) {
  const right = hit(statement);
  const gold = [].concat(...statement.gold.map((label) => [dot(label), label]));
  const said = statement.said === null ? [el("b", null, "no answer")] : [dot(statement.said), el("b", null, statement.said)];
  const likely = statement.chances.map((chance, place) => [chance, place]).sort((a, b) => b[0] - a[0]);
  const passed = likely.length > 0 && statement.said !== null
    && likely[0][0] > statement.chances[about.labels.indexOf(statement.said)];
  return el("div", { class: "statement " + colour(statement.said) + (right ? "" : " wrong") },
    el("p", null, statement.text),
    el("div", { class: "said" },
      el("span", null, ...said),
      right ? el("span", { class: "verdict right" }, "✓")
        : el("span", null, el("span", { class: "verdict wrong" }, "✗ gold:"), ...gold),
      right && statement.gold.length > 1 && el("span", { class: "quiet" }, "gold: ", ...gold),
      likely.length > 0 && el("span", { class: "odds" }, odds(likely))),
    likely.length > 0 && drawChances(likely),
    passed && el("p", { class: "odds" },
      `Likeliest is ${about.labels[likely[0][1]]}; label weights may make it another, for the ranking score.`));
}

const odds = (likely) => likely.filter(([chance]) => chance >= 0.01)
  .map(([chance, place]) => `${about.labels[place]} ${percent(chance)}`.replaceAll(" ", "\u00a0")).join(" · ");

function drawChances(likely) {
  const bar = el("div", { class: "chances", "aria-hidden": "true" });
  for (const [chance, place] of likely) {
    const part = el("i", { class: "v" + place });
    part.style.flexGrow = chance;
    bar.append(part);
  }
  return bar;
}

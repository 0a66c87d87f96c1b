// Records one below the other, each statement with what the program says and what a person does.
(() => {
  const { task, by, labels, most, rows, records, values } = data("content"), pictures = data("pictures");
  const keys = rows.flatMap((row, k) => row.statements.map((_, place) => `${k}:${place}`));
  const drawn = new Map();
  let at = 0;

  const people = corrections((key) => {
    if (!keys.includes(key)) return undefined;
    const [row, place] = key.split(":").map(Number), { id, exhibits, statements } = rows[row];
    const { text, said, digest } = statements[place], paper = records[row].cited_paper_full_text;
    return {
      task, record_id: id, statement: place, sentence: text, verdict: { label: said, ...by }, labels, digest, flag: "", most,
      shown: exhibits.map((one) => one.key),
      named: exhibits.filter((one) => one.chosen > 0).sort((a, b) => a.chosen - b.chosen).map((one) => one.key),
      all: paper !== undefined && (() => JSON.parse(values[paper]).flatMap((paragraph) => Object.entries(paragraph))),
      record: () => whole(records[row], values),
    };
  }, keys, (key) => mark(Number(key.split(":")[0])));

  const mark = (row) => document.getElementById("row-" + row).classList.toggle("labelled",
    rows[row].statements.every((_, place) => people.said(`${row}:${place}`) !== null));

  function statement(row, one, place) {
    const key = `${row}:${place}`;
    const box = el("div", { class: "statement", onclick: () => go(keys.indexOf(key), false) },
      el("p", null, one.text),
      el("p", { class: "quiet" }, one.said === null ? "The program gave no answer." : "The program says: " + one.said),
      people.panel(key));
    drawn.set(key, box);
    return box;
  }

  function piece(one) {
    const picture = one.picture && Object.hasOwn(pictures, one.picture) && pictures[one.picture];
    return el("p", null, el("b", null, one.key + (one.chosen ? ` (named ${one.chosen})` : "") + ": "), one.text,
      picture && el("img", { src: picture, alt: one.key }));
  }

  // In sight: what the program names of a paper, or all where it names nothing.
  function evidence(exhibits) {
    const named = exhibits.filter((one) => one.chosen > 0).sort((a, b) => a.chosen - b.chosen);
    const rest = exhibits.filter((one) => !one.chosen);
    return el("div", { class: "evidence", tabindex: "0", role: "group", "aria-label": "Evidence" }, ...named.map(piece),
      rest.length > 0 && el("details", { open: !named.length },
        el("summary", null, (named.length ? "also read by the program: " : "evidence: ") + rest.length), ...rest.map(piece)));
  }

  function article(row, k) {
    const sure = row.sure === null ? "" : ` · ${percent(row.sure)} sure`;
    return el("article", { id: "row-" + k },
      el("h2", null, `${k + 1} of ${rows.length} · ${row.id}${sure}`),
      el("div", { class: "both" }, el("div", null, ...row.statements.map((one, place) => statement(k, one, place))), evidence(row.exhibits)));
  }

  function go(place, scroll) {
    drawn.get(keys[at])?.removeAttribute("aria-current");
    at = Math.max(0, Math.min(keys.length - 1, place));
    const box = drawn.get(keys[at]);
    if (!box) return;
    box.setAttribute("aria-current", "true");
    if (scroll) box.scrollIntoView({ block: "center" });
  }

  document.getElementById("rows").append(...rows.map(article));
  rows.forEach((_, row) => mark(row));
  go(0, false);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    if (event.key === "j") go(at + 1, true);
    else if (event.key === "k") go(at - 1, true);
    else if (!people.key(event.key, keys[at])) return;
    event.preventDefault();
  });
})();

// A paper with its flags: text in its own order, a list with the doubtful ones first, evidence beside it.
(() => {
  const byId = (id) => document.getElementById(id);
  const { labels, paragraphs, flags, order, pieces, pictures } = JSON.parse(byId("data").textContent);
  const list = byId("list"), detail = byId("detail"), search = byId("search");
  const EXACT = ["statistics", "quote"];
  const FEW = 4; // pieces of evidence that are all shown
  const UNJUDGED = "not judged", DOUBTFUL = "doubtful", DISMISSED = "dismissed", ALL = "all";

  const nameOf = (flag) => (flag.label === null ? UNJUDGED : flag.label);
  const colourOf = (flag) => {
    if (flag.folded) return "vn";
    if (flag.kind === "hidden") return "vh";
    if (EXACT.includes(flag.kind) || flag.level === "error") return "vx";
    const place = flag.label === null ? -1 : labels[flag.kind].indexOf(flag.label);
    return place < 0 ? "vf" : "v" + place;
  };
  const dot = (flag) => el("span", { class: "dot " + colourOf(flag), "aria-hidden": "true" });
  const sure = (flag) => (flag.confidence === null ? "" : " " + percent(flag.confidence));
  const labelOf = (flag) => nameOf(flag) + sure(flag);
  const sentenceOf = (flag) => paragraphs[flag.position[0]].sentences[flag.position[1]];
  const key = (position) => `s-${position[0]}-${position[1]}`;

  // What stands about each sentence, the most doubtful first.
  const about = new Map();
  for (const number of order) {
    const id = key(flags[number].position);
    about.set(id, [...(about.get(id) || []), number]);
  }
  const spans = new Map();

  let chosen = flags.some((flag) => flag.doubtful) ? DOUBTFUL : ALL;
  let listed = []; // numbers of flags
  let at = 0; // place in `listed`

  // --- the paper
  function drawPaper() {
    let headings = [];
    const text = [];
    paragraphs.forEach((paragraph, p) => {
      paragraph.headings.forEach((heading, depth) => {
        if (headings.slice(0, depth + 1).join("\n") !== paragraph.headings.slice(0, depth + 1).join("\n"))
          text.push(el("h2", null, heading));
      });
      headings = paragraph.headings;
      text.push(el("p", null, ...paragraph.sentences.flatMap((sentence, k) => [drawSentence(sentence, key([p, k])), " "])));
    });
    byId("text").replaceChildren(...text);
  }

  function drawSentence(sentence, id) {
    const numbers = about.get(id);
    if (!numbers) return el("span", { class: "unchecked", id, title: sentence.place }, el("bdi", null, sentence.text));
    const first = flags[numbers[0]];
    const classes = ["sentence", colourOf(first), first.doubtful && "doubtful", sentence.hidden && "hidden"];
    const tags = numbers.map((number) => drawTag(flags[number]));
    const span = el("span", { class: classes.filter(Boolean).join(" "), id, title: sentence.place, onclick: () => choose(numbers[0]) },
      el("bdi", null, sentence.text), ...tags);
    spans.set(id, span);
    return span;
  }

  function drawTag(flag) {
    const words = flag.doubtful ? labelOf(flag) : sure(flag).trim() || "✓";
    return el("span", { class: "tag", title: labelOf(flag) + (flag.work ? ": " + flag.work : "") }, dot(flag), words);
  }

  // --- the list
  function matches(number, words) {
    const flag = flags[number];
    const kinds = [nameOf(flag), ALL, flag.doubtful && DOUBTFUL, flag.dismissed && DISMISSED];
    if (!kinds.includes(chosen)) return false;
    if (!words.length) return true;
    const sentence = sentenceOf(flag);
    const text = [sentence.text, sentence.place, nameOf(flag), flag.work || ""].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  }

  function filter() {
    const current = listed[at];
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    listed = order.filter((number) => matches(number, words));
    at = Math.max(0, listed.indexOf(current));
    byId("found").textContent = `${listed.length} of ${flags.length} flags`;
    for (const one of document.querySelectorAll("#labels button"))
      one.setAttribute("aria-pressed", String(one.dataset.label === chosen));
    list.replaceChildren(...listed.map(drawRow));
    const narrow = words.length > 0 || ![DOUBTFUL, ALL].includes(chosen);
    const kept = new Set(listed.map((number) => key(flags[number].position)));
    for (const [id, span] of spans) span.classList.toggle("other", narrow && !kept.has(id));
    show();
  }

  function drawRow(number, place) {
    const flag = flags[number], sentence = sentenceOf(flag);
    return el("div", { class: "row" + (flag.dismissed ? " gone" : ""), id: "row-" + number, role: "option", onclick: () => go(place) },
      el("div", { class: "top" }, dot(flag), el("b", null, labelOf(flag)), el("span", { class: "where", title: sentence.place }, sentence.place.split("/").pop())),
      el("div", { class: "words" }, sentence.text),
      ...flag.reasons.slice(0, 1).map(({ text }) => el("div", { class: "words why" }, text)));
  }

  function drawLabels() {
    const count = { [DOUBTFUL]: flags.filter((flag) => flag.doubtful).length };
    for (const number of order) count[nameOf(flags[number])] = (count[nameOf(flags[number])] || 0) + 1;
    const gone = flags.filter((flag) => flag.dismissed).length;
    if (gone) count[DISMISSED] = gone;
    count[ALL] = flags.length;
    byId("labels").replaceChildren(...Object.entries(count).map(([name, times]) =>
      el("button", { type: "button", "data-label": name, onclick: () => { chosen = name; filter(); } }, `${name} ${times}`)));
  }

  // --- one sentence
  function go(place) {
    if (place < 0 || place >= listed.length) return;
    at = place;
    show();
  }

  function choose(number) {
    if (!listed.includes(number)) {
      chosen = ALL;
      search.value = "";
      filter();
    }
    go(listed.indexOf(number));
  }

  function show() {
    for (const row of list.querySelectorAll('[aria-selected="true"]')) row.setAttribute("aria-selected", "false");
    for (const span of document.querySelectorAll(".sentence.here")) span.classList.remove("here");
    detail.scrollTop = 0;
    if (!listed.length) {
      const none = flags.length ? "No sentence is like that." : "There are no flags.";
      detail.replaceChildren(el("p", { class: "empty" }, none));
      return;
    }
    const flag = flags[listed[at]], row = byId("row-" + listed[at]);
    const id = key(flag.position);
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    list.setAttribute("aria-activedescendant", row.id);
    spans.get(id).classList.add("here");
    spans.get(id).scrollIntoView({ block: "center" });
    const others = about.get(id).filter((number) => number !== listed[at]);
    detail.replaceChildren(
      el("div", { class: "where" }, sentenceOf(flag).place),
      ...[listed[at], ...others].flatMap((number) => drawFlag(flags[number])));
    for (const cell of detail.querySelectorAll("td.cell")) reveal(cell);
    try { history.replaceState(null, "", "#" + id); } catch { /* a sandboxed frame */ }
  }

  function drawFlag(flag) {
    const meaning = flag.label === null ? flag.failed : flag.meaning;
    return some([
      el("div", { class: "flag-of " + colourOf(flag) },
        el("div", { class: "top" }, dot(flag), el("b", null, labelOf(flag)),
          flag.confidence === null && flag.label !== null && !["hidden", ...EXACT].includes(flag.kind)
            && el("span", { class: "quiet" }, "confidence unknown"),
          flag.work && el("span", { class: "quiet" }, "cites " + flag.work)),
        el("p", { class: "quiet" }, meaning),
        el("p", null, flag.statement),
        ...flag.reasons.map(drawReason),
        flag.label !== null && flag.failed && el("p", { class: "quiet" }, flag.failed),
        flag.dismissed && el("p", { class: "quiet" }, "Dismissed."),
        flag.dismissal && el("details", { class: "dismissal" }, el("summary", { class: "quiet" }, "Dismiss this flag"),
          el("p", { class: "quiet" }, "Add this line to the file of --dismissed:"), el("code", null, flag.dismissal))),
      ...drawEvidence(flag),
    ]);
  }

  function drawReason({ text, quote, place }) {
    const beside = place && [place.row, place.column].filter(Boolean).join(", ");
    return el("p", { class: "why" }, text && el("bdi", null, text),
      place && !text.includes(place.name) && el("span", { class: "quiet" }, ` (${place.name}${beside && ": " + beside}`,
        quote && !text.includes(quote) && el("bdi", null, `: “${quote}”`), ")"));
  }

  function drawEvidence(flag) {
    const all = flag.evidence;
    const named = flag.marks.filter(([, , place]) => place > 0);
    const cited = flag.kind === "citation", placed = flag.reasons.filter(({ mark }) => mark);
    const draw = (k) => drawPiece(pieces[all[k]], flag.marks.filter(([piece]) => piece === k), placed.filter(({ mark }) => mark[0] === k));
    // First where reasons stand, then what decides, or is nearest, then the rest of what the model read.
    const few = !cited && all.length <= FEW;
    const marks = [...placed.map(({ mark }) => mark), ...(few ? [] : cited ? named : flag.marks)];
    const first = [...new Set(marks.map(([piece]) => piece))];
    const rest = all.map((_, k) => k).filter((k) => !first.includes(k));
    if (few) return [...first, ...rest].map(draw);
    const what = cited ? "paragraph" : "piece";
    return some([
      ...first.map(draw),
      cited && all.length > 0 && !named.length && el("p", { class: "quiet" }, "No paragraph was named."),
      rest.length > 0 && el("details", null,
        el("summary", null, `Also read by the model: ${rest.length} ${what}${rest.length === 1 ? "" : "s"}`), ...rest.map(draw)),
    ]);
  }

  function drawPiece(piece, marks, reasons) {
    const [whole, ...rows] = piece.lines;
    const first = whole.startsWith(piece.key + ": ") ? whole.slice(piece.key.length + 2) : whole;
    const inlined = piece.picture && Object.hasOwn(pictures, piece.picture);
    const named = marks.find(([, , place]) => place > 0);
    const quotes = reasons.filter(({ mark }) => mark[1] === 0).map(({ quote }) => quote).filter(Boolean);
    const nearest = marks.some(([, line]) => line === 0) && !named && !reasons.length;
    const marked = new Map(); // of each marked row the marked cells
    for (const [, line, , columns] of marks)
      if (line > 0) marked.set(line - 1, [...(marked.get(line - 1) || []), ...columns]);
    return el("div", { class: "exhibit" + (marks.length ? " marked" : "") },
      el("div", { class: "key" }, el("b", null, piece.key),
        named && el("span", { class: "badge chosen" }, "named, place " + named[2]),
        reasons.length > 0 && el("span", { class: "badge chosen" }, "the reason stands here"),
        marks.length > 0 && !named && !reasons.length && el("span", { class: "badge chosen" }, "nearest"),
        piece.picture && !inlined && el("span", null, piece.picture)),
      el("p", { class: nearest ? "marked-line" : null }, ...withMarks(first, quotes)),
      ...drawMarked(rows, marked),
      inlined && el("img", { src: pictures[piece.picture], alt: first || piece.key,
        onclick: (event) => event.target.classList.toggle("large") }));
  }

  // A table with cells in bold. marked: the number of a row that stands out -> those of its cells that do.
  function drawMarked(rows, marked) {
    const tables = drawTable(rows);
    for (const table of tables) {
      for (const [k, columns] of marked) {
        table.rows[k]?.classList.add("marked-line");
        for (const column of columns) table.rows[k]?.cells[column]?.classList.add("cell");
      }
      for (const cell of table.querySelectorAll("td"))
        if (/^\*\*.+\*\*$/.test(cell.textContent)) cell.replaceChildren(el("b", null, cell.textContent.slice(2, -2)));
    }
    return tables;
  }

  // A text in which the words that reasons quote stand out.
  function withMarks(text, quotes) {
    const quote = quotes.find((one) => text.includes(one));
    if (!quote) return [text];
    const at = text.indexOf(quote), rest = quotes.filter((one) => one !== quote);
    return [...withMarks(text.slice(0, at), rest), el("mark", null, quote), ...withMarks(text.slice(at + quote.length), rest)];
  }

  // A wide table is scrolled to what is marked in it.
  function reveal(cell) {
    const table = cell.closest("table");
    if (cell.offsetLeft + cell.offsetWidth > table.scrollLeft + table.clientWidth)
      table.scrollLeft = cell.offsetLeft + cell.offsetWidth - table.clientWidth;
  }

  // --- what the reader does
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 60);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    if (event.key === "Escape") {
      search.blur();
      search.value = "";
      chosen = ALL;
      filter();
    } else if (typing && event.key === "Enter") {
      search.blur();
    } else if (typing) {
      return;
    } else if (event.key === "j" || (event.key === "ArrowDown" && event.target === list)) {
      go(at + 1);
    } else if (event.key === "k" || (event.key === "ArrowUp" && event.target === list)) {
      go(at - 1);
    } else if (event.key === "/") {
      search.focus();
      search.select();
    } else if (event.key === "d") {
      chosen = chosen === DOUBTFUL ? ALL : DOUBTFUL;
      filter();
    } else {
      return;
    }
    event.preventDefault();
  });

  drawPaper();
  drawLabels();
  const linked = about.get(location.hash.slice(1));
  filter();
  if (linked) choose(linked[0]);
})();

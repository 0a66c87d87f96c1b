// What people say of verdicts: kept in this browser, where it keeps anything, and downloaded as JSON Lines. Nothing is
// sent anywhere. A page says by `about(key)` what one of its verdicts is:
//   { task, record_id, statement, sentence, verdict: { label, program, lm }, labels: { label: meaning }, digest,
//     flag: digest under which it may be dismissed, or "", most: ids of evidence that may be named, evidence: ids, named,
//     record: () => the whole record as JSON text, or null where it stands in a file }
// `changed(key)` is called when a verdict is corrected or dismissed.
// keys: those of all verdicts.
const whole = (record, values) =>
  "{" + Object.entries(record).map(([field, place]) => JSON.stringify(field) + ":" + values[place]).join(",") + "}";

function corrections(about, keys, changed) {
  const byId = (id) => document.getElementById(id);
  const KEPT = "aisr-corrections:" + document.body.dataset.page, NAME = "aisr-corrections:name";
  const LONGEST_WHY = 500, LONGEST_NAME = 100, LONGEST_ID = 1000;
  let refused = false; // the browser keeps nothing for this page
  let unsaved = false; // since the last download
  const picked = new Map(); // ids that are ticked where no label is given yet

  function stored(key) {
    try { return localStorage.getItem(key); } catch { refused = true; return null; }
  }
  function store(key, value) {
    try { localStorage.setItem(key, value); } catch { refused = true; }
  }

  // --- corrections: a list, the last of each verdict and kind being what holds
  // What was stored is taken only as far as a line of corrections may hold it: one that is none is lost on download.
  const clean = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, " ");
  const nameIn = (text) => [...clean(text).trim()].slice(0, LONGEST_NAME).join("").trim();
  const isText = (text, longest) => typeof text === "string" && text.length <= longest && !/\p{Cs}/u.test(text);
  const DAY = 24 * 60 * 60 * 1000;
  const isTime = (when) => typeof when === "string" && /^[1-9]\d{3}-/.test(when) && Date.parse(when) <= Date.now() + DAY
    && new Date(when).toISOString() === when;
  function isAct(act) {
    const of = act !== null && typeof act === "object" ? about(act.key) : undefined;
    if (of === undefined || !isTime(act.when) || !isText(act.who, 2 * LONGEST_NAME) || nameIn(act.who) !== act.who) return false;
    if (act.dismissed !== undefined) return of.flag !== "" && act.label === undefined && isText(act.dismissed, LONGEST_WHY);
    return typeof act.label === "string" && Object.hasOwn(of.labels, act.label) && Array.isArray(act.evidence)
      && act.evidence.length <= of.most && act.evidence.every((id) => isText(id, 2 * LONGEST_ID) && id !== "" && [...id].length <= LONGEST_ID);
  }
  function earlier() {
    try {
      const acts = JSON.parse(stored(KEPT) || "[]");
      return Array.isArray(acts) ? acts.filter(isAct) : []; // whatever else can write there
    } catch { return []; }
  }
  let who = nameIn(stored(NAME) || "");
  let acts = earlier();
  const last = (key, dismissal) => acts.findLast((act) => act.key === key && (act.dismissed !== undefined) === dismissal);
  const holding = () => [...new Set(acts.map((act) => act.key))].flatMap((key) => some([last(key, false), last(key, true)]));

  function say(key, what) {
    acts.push({ key, who, when: new Date().toISOString(), ...what });
    after(key);
  }
  function undo(key) {
    const place = acts.findLastIndex((act) => act.key === key);
    if (place < 0) return;
    acts.splice(place, 1);
    picked.delete(key);
    after(key);
  }
  function after(key) {
    unsaved = acts.length > 0;
    store(KEPT, JSON.stringify(acts));
    drawBar();
    draw(key);
    changed(key);
  }

  // Who agrees, agrees with the evidence that the verdict names; whoever says something else ticks what shows that.
  function label(key, name) {
    const of = about(key), named = name === of.verdict.label ? of.named.slice(0, of.most) : [];
    say(key, { label: name, evidence: picked.get(key) || named });
  }
  const agree = (key) => label(key, about(key).verdict.label);

  // --- evidence
  const evidenceOf = (key) => picked.get(key) || last(key, false)?.evidence || [];
  function pick(key, id, on) {
    const kept = evidenceOf(key).filter((other) => other !== id);
    picked.set(key, on ? [...kept, id] : kept);
    const latest = last(key, false);
    if (latest) label(key, latest.label);
    else draw(key);
  }

  // --- the panel of one verdict
  const offers = (of) => of !== undefined && (of.flag !== "" || Object.keys(of.labels).length > 0);
  const panels = new Map();
  function panel(key) {
    const of = about(key);
    if (!offers(of)) return false;
    const box = el("fieldset", { class: "correct" });
    panels.set(key, box);
    fill(key, box);
    return box;
  }
  function draw(key) {
    const box = panels.get(key);
    if (!box || !box.isConnected) return;
    const at = box.contains(document.activeElement) ? document.activeElement.dataset.what : null;
    fill(key, box);
    if (at) (box.querySelector(`[data-what="${CSS.escape(at)}"]`) || box.querySelector("button")).focus();
  }
  const button = (what, words, onclick, more) =>
    el("button", { type: "button", "data-what": what, onclick, ...more }, words);

  function fill(key, box) {
    const of = about(key), latest = last(key, false), gone = last(key, true);
    const labels = Object.entries(of.labels);
    const chip = ([name, meaning], place) => button("label " + name,
      name === of.verdict.label ? "Agree: " + name : name, () => label(key, name),
      { "aria-pressed": String(Boolean(latest) && latest.label === name), title: `${meaning} (${place + 1})` });
    box.replaceChildren(...some([
      el("legend", null, "What you say"),
      labels.length > 0 && el("div", { class: "chips", role: "group", "aria-label": "Label" }, ...labels.map(chip)),
      labels.length > 0 && of.most > 0 && ticks(key, of),
      of.flag && !gone && button("dismiss", "Dismiss this flag…", () => ask(key, box), { class: "quietly" }),
      (latest || gone) && el("p", { role: "status" },
        some([latest && inWords(of, latest), gone && `Dismissed: ${gone.dismissed}`]).join(" · ") + " ",
        button("undo", "Undo", () => undo(key), { title: "Take it back (u)" })),
    ]));
  }
  const inWords = (of, latest) => (latest.label === of.verdict.label ? "You agree: " : "You say: ") + latest.label
    + (of.most ? ", by " + (latest.evidence.join(", ") || "no paragraph: tick those that show it") : "");

  function ticks(key, of) {
    const ticked = evidenceOf(key), full = ticked.length >= of.most;
    const ids = [...new Set([...ticked, ...of.evidence])];
    return el("div", { class: "ticks", role: "group", "aria-label": `Evidence, at most ${of.most}` },
      el("span", { class: "quiet" }, `shown by (at most ${of.most}):`),
      ...ids.map((id) => {
        const on = ticked.includes(id);
        const box = el("input", { type: "checkbox", "data-what": "tick " + id, disabled: full && !on,
          onchange: (event) => pick(key, id, event.target.checked) });
        box.checked = on;
        return el("label", null, box, id);
      }),
      of.all && rest(key, of, ids));
  }

  // The paragraphs that the model did not read: what it missed is among them.
  function rest(key, of, ids) {
    const box = el("details", null, el("summary", null, "another paragraph"));
    box.addEventListener("toggle", () => {
      if (!box.open || box.childElementCount > 1) return;
      box.append(...of.all().filter(([id]) => !ids.includes(id)).map(([id, text]) =>
        el("p", null, button("take " + id, id, () => pick(key, id, true), { disabled: evidenceOf(key).length >= of.most }), " ", text)));
    });
    return box;
  }

  function ask(key, box) {
    const why = el("input", { type: "text", maxlength: LONGEST_WHY, "aria-label": "Why is this no fault?", placeholder: "why, in a word", required: true });
    const done = () => {
      const words = why.value.replace(/\p{Cs}/gu, "").trim(); // half a character, where the field is full
      if (words) say(key, { dismissed: words }); else why.focus();
    };
    why.addEventListener("keydown", (event) => {
      event.stopPropagation(); // what is typed is no key of the page
      if (event.key === "Enter") done();
      else if (event.key === "Escape") { draw(key); box.querySelector("button").focus(); }
    });
    box.querySelector('[data-what="dismiss"]').replaceWith(el("div", { class: "why-not" }, why,
      button("dismiss", "Dismiss", done), button("cancel", "Cancel", () => draw(key))));
    why.focus();
  }
  // --- name, count, download
  const name = el("input", { type: "text", maxlength: LONGEST_NAME, autocomplete: "off", "aria-label": "Your name, which goes with every correction", placeholder: "your name" });
  name.value = who;
  name.addEventListener("keydown", (event) => event.stopPropagation());
  name.addEventListener("input", () => {
    who = nameIn(name.value);
    store(NAME, who);
    name.removeAttribute("aria-invalid");
  });
  const count = el("span", { role: "status" }), warning = el("p", { class: "quiet" });
  const save = button("download", "Download corrections", download);
  const bar = byId("corrections");
  if (keys.some((key) => offers(about(key)))) bar.append(el("div", { class: "who" }, name, save), count, warning);

  function drawBar() {
    const times = holding().length;
    count.textContent = times ? `${times} correction${times === 1 ? "" : "s"}` : "No corrections yet.";
    save.disabled = !times;
    warning.textContent = refused ? "This browser keeps nothing for this page: download your corrections before you leave it." : "";
  }

  function line(act) {
    const of = about(act.key);
    const { task, record_id, statement, sentence, verdict } = of;
    const by = { who: act.who || who, when: act.when };
    if (act.dismissed !== undefined)
      return JSON.stringify({ format: 1, task, record_id, statement, sentence, verdict, dismissed: act.dismissed, ...by, digest: of.flag });
    const text = JSON.stringify({ format: 1, task, record_id, statement, sentence, verdict, label: act.label,
      evidence: act.evidence, ...by, digest: of.digest });
    const record = of.record();
    return record === null ? text : `${text.slice(0, -1)},"record":${record}}`;
  }

  function download() {
    if (!who) {
      name.setAttribute("aria-invalid", "true");
      count.textContent = "Who says so? Your name goes with every correction.";
      name.focus();
      return;
    }
    const text = holding().map((act) => line(act) + "\n");
    const link = el("a", { href: URL.createObjectURL(new Blob(text, { type: "application/jsonl" })), download: "corrections.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
  }
  addEventListener("beforeunload", (event) => { if (refused && unsaved) event.preventDefault(); });

  drawBar();
  // `a`, `1` to `9`, `x` and `u` speak of the verdict that the page shows.
  function key(pressed, key) {
    const of = about(key);
    if (of === undefined) return false;
    const names = Object.keys(of.labels);
    if (pressed === "a" && names.includes(of.verdict.label)) agree(key);
    else if (pressed >= "1" && pressed <= "9" && names[pressed - 1]) label(key, names[pressed - 1]);
    else if (pressed === "x" && of.flag && panels.get(key)?.isConnected && !last(key, true)) ask(key, panels.get(key));
    else if (pressed === "u") undo(key);
    else return false;
    return true;
  }
  const latestLabel = (key) => last(key, false)?.label ?? (last(key, true) && "dismissed") ?? null;
  return { panel, key, latestLabel, box: (key) => panels.get(key) ?? null };
}

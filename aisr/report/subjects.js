// What can be said of the records of the error browser, as the panel for corrections takes it. A statement is known by
// its record's number and its own: `3:0`. The records stand in a file of their owner's, which has them whole.
function subjects(about, records) {
  const meanings = Object.fromEntries(about.labels.map((label) => [label, label]));
  return (key) => {
    const [number, place] = typeof key === "string" ? key.split(":") : [];
    const record = /^\d{1,9}$/.test(number) ? records[number] : undefined;
    const statement = record && /^\d{1,9}$/.test(place) ? record.statements[place] : undefined;
    if (!statement || !statement.digest) return undefined;
    return {
      task: about.task, record_id: record.id, statement: Number(place), sentence: statement.as_given ?? statement.text,
      verdict: { label: statement.said, program: about.program, lm: about.lm },
      labels: meanings, digest: statement.digest, flag: "", most: about.most,
      evidence: record.exhibits.filter((one) => one.shown).map((one) => one.key),
      named: record.exhibits.filter((one) => one.chosen > 0).sort((a, b) => a.chosen - b.chosen).map((one) => one.key),
      all: false, record: () => null,
    };
  };
}

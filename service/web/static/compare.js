// What two answers to one text do not have in common.

// The differing parts of each answer: spans of `/ner`, tokens of `/tag`.
export function differences(task, [first, second]) {
  if (!second) return [new Set(), new Set()];
  const parts = (answer) => (task === "ner" ? answer.spans : answer.tokens);
  return [missing(parts(first), parts(second)), missing(parts(second), parts(first))];
}

// How much that is, in words.
export function summary(task, [first, second]) {
  if (task === "ner") {
    const count = first.size + second.size;
    if (count === 0) return "both models find the same";
    return `${count} ${count === 1 ? "entity is" : "entities are"} found by one model only`;
  }
  if (first.size === 0) return "both models agree";
  return `${first.size} ${first.size === 1 ? "tag differs" : "tags differ"}`;
}

function missing(parts, others) {
  const known = new Set(others.map(key));
  return new Set(parts.filter((part) => !known.has(key(part))));
}

const key = ({ start, end, label, tag }) => `${start} ${end} ${label ?? tag}`;

// What tags mean, and the colour that they share with others of their kind.

const MEANINGS = {
  PER: "person", LOC: "location", ORG: "organisation",
  // Universal
  ADJ: "adjective", ADP: "adposition", ADV: "adverb", AUX: "auxiliary",
  CCONJ: "coordinating conjunction", DET: "determiner", INTJ: "interjection", NOUN: "noun",
  NUM: "numeral", PART: "particle", PRON: "pronoun", PROPN: "proper noun", PUNCT: "punctuation",
  SCONJ: "subordinating conjunction", SYM: "symbol", VERB: "verb", X: "other",
  // Penn Treebank, with the additions of the English Web Treebank
  ADD: "address", AFX: "affix", CC: "coordinating conjunction", CD: "cardinal number",
  DT: "determiner", EX: "existential there", FW: "foreign word", GW: "goes with the next word",
  HYPH: "hyphen", IN: "preposition or subordinating conjunction", JJ: "adjective",
  JJR: "adjective, comparative", JJS: "adjective, superlative", LS: "list item", MD: "modal",
  NFP: "superfluous punctuation", NN: "noun", NNS: "noun, plural", NNP: "proper noun",
  NNPS: "proper noun, plural", PDT: "predeterminer", POS: "possessive ending",
  PRP: "personal pronoun", PRP$: "possessive pronoun", RB: "adverb", RBR: "adverb, comparative",
  RBS: "adverb, superlative", RP: "particle", TO: "to", UH: "interjection",
  VB: "verb, base form", VBD: "verb, past tense", VBG: "verb, gerund or present participle",
  VBN: "verb, past participle", VBP: "verb, present, not third person singular",
  VBZ: "verb, present, third person singular", WDT: "wh-determiner", WP: "wh-pronoun",
  WP$: "possessive wh-pronoun", WRB: "wh-adverb",
};

const KINDS = [
  ["noun", /^(NN|NOUN|PROPN|PRON$|PRP|WP|EX$)/],
  ["verb", /^(VB|VERB|AUX$|MD$)/],
  ["modifier", /^(JJ|RB|WRB$|ADJ$|ADV$|CD$|NUM$)/],
  ["mark", /^(PUNCT$|SYM$|HYPH$|NFP$|-LRB-|-RRB-|[^A-Z])/],
];

// "B-PER" is "person, first word"; the empty string where a tag is not known.
export function meaning(tag) {
  if (tag === "O") return "outside of entities";
  if (/^[BI]-/.test(tag)) {
    const place = tag[0] === "B" ? "first word" : "further word";
    return `${MEANINGS[tag.slice(2)] ?? tag.slice(2)}, ${place}`;
  }
  return Object.hasOwn(MEANINGS, tag) ? MEANINGS[tag] : "";
}

export function kind(tag) {
  return KINDS.find(([, pattern]) => pattern.test(tag))?.[0] ?? "other";
}

// Labels of a model in their order, so that each keeps its colour from text to text.
export function labelHues(tags) {
  const labels = [...new Set(tags.filter((tag) => tag !== "O").map((tag) => tag.slice(2)))].sort();
  return new Map(labels.map((label, index) => [label, index % 6]));
}

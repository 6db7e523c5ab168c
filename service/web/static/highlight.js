// The text of a request with what was found in it. Offsets of answers count UTF-16 units, as
// JavaScript does, so that `text.slice(start, end)` is what a token or a span covers.

import { element } from "./dom.js";
import { percent } from "./numbers.js";
import { runningText } from "./running.js";
import { kind, meaning } from "./tags.js";

const SURE = 0.9;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// Entities in the running text. `differing` holds the spans that another model does not have.
export function entityText(text, answer, hues, differing) {
  return runningText(answer, "", (first, last) => {
    const nodes = [];
    let token = first;
    const upTo = (limit) => {
      const pieces = [];
      for (; token < limit; token += 1) pieces.push(gap(text, answer, token), word(text, answer, token));
      return pieces;
    };
    for (const span of answer.spans) {
      if (span.token_start < first || span.token_start >= last) continue;
      nodes.push(...upTo(span.token_start), gap(text, answer, token));
      const mark = element("mark", {}, ...upTo(span.token_end).slice(1));
      nodes.push(entity(mark, span, hues.get(span.label), differing.has(span)));
    }
    return [...nodes, ...upTo(last), rest(text, answer, last)];
  });
}

function entity(mark, span, hue, differs) {
  const label = element("bdi", { class: "label", title: meaning(span.label) }, span.label);
  if (span.confidence !== null) label.append(element("small", {}, percent(span.confidence)));
  if (differs) label.append(element("small", { class: "only" }, "only here"));
  const classes = `entity hue-${hue} ${direction(mark.textContent)}`;
  return element("span", { class: classes, "data-differs": differs }, mark, label);
}

// Which way the last letter is written: the label stands behind it, whatever way the line runs.
function direction(text) {
  const last = text.match(/\p{L}/gu)?.at(-1) ?? "";
  return RIGHT_TO_LEFT.test(last) ? "rtl" : "ltr";
}

// Each word with its tag under it. `differing` holds the tokens that another model tags otherwise.
export function taggedText(text, answer, differing) {
  const pair = (index) => {
    const token = answer.tokens[index];
    const differs = differing.has(token);
    const attributes = { class: `pair ${kind(token.tag)}`, "data-differs": differs };
    return element("span", attributes, word(text, answer, index), tagOf(token, differs));
  };
  return runningText(answer, "tagged", (first, last) => {
    const nodes = [];
    for (let index = first; index < last; index += 1) nodes.push(gap(text, answer, index), pair(index));
    return [...nodes, rest(text, answer, last)];
  });
}

function tagOf({ tag, confidence }, differs) {
  const title = [meaning(tag), confidence !== null && percent(confidence)].filter(Boolean).join(", ");
  const shown = element("bdi", { class: "tag", title }, tag);
  if (isUnsure(confidence)) shown.append(element("small", {}, percent(confidence)));
  if (differs) shown.append(element("span", { class: "hidden" }, " differs"));
  return shown;
}

const isUnsure = (confidence) => confidence !== null && confidence < SURE;

// What stands before a word, and behind the last one.
const gap = (text, { tokens }, index) => text.slice(tokens[index - 1]?.end ?? 0, tokens[index].start);
const rest = (text, { tokens }, end) => (end === tokens.length ? text.slice(tokens.at(-1)?.end ?? 0) : "");

const word = (text, { tokens }, index) => {
  const { start, end } = tokens[index];
  return element("span", { class: "word", "data-token": index }, text.slice(start, end));
};

// The text of a request with what was found in it. Offsets of answers count UTF-16 units, as
// JavaScript does, so that `text.slice(start, end)` is what a token or a span covers.

import { element } from "./dom.js";
import { percent } from "./numbers.js";
import { kind, meaning } from "./tags.js";

const SURE = 0.9;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// Entities in the running text. `differing` holds the spans that another model does not have.
export function entityText(text, answer, hues, differing) {
  const line = element("p", { class: "running" });
  let token = 0;
  let end = 0;
  const upTo = (limit) => {
    const pieces = [];
    while (token < limit) {
      const { start, end: tokenEnd } = answer.tokens[token];
      pieces.push(text.slice(end, start), word(text.slice(start, tokenEnd), token));
      end = tokenEnd;
      token += 1;
    }
    return pieces;
  };
  for (const span of answer.spans) {
    line.append(...upTo(span.token_start), text.slice(end, span.start));
    end = span.start;
    const mark = element("mark", {}, ...upTo(span.token_end));
    line.append(entity(mark, span, hues.get(span.label), differing.has(span)));
  }
  line.append(...upTo(answer.tokens.length), text.slice(end));
  return line;
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
  const line = element("p", { class: "running tagged" });
  let end = 0;
  answer.tokens.forEach((token, index) => {
    const tag = element("bdi", { class: "tag", title: meaning(token.tag) }, token.tag);
    if (token.confidence !== null && token.confidence < SURE) {
      tag.append(element("small", {}, percent(token.confidence)));
    }
    const attributes = { class: `pair ${kind(token.tag)}`, "data-differs": differing.has(token) };
    const form = word(text.slice(token.start, token.end), index);
    line.append(text.slice(end, token.start), element("span", attributes, form, tag));
    end = token.end;
  });
  line.append(text.slice(end));
  return line;
}

const word = (form, index) => element("span", { class: "word", "data-token": index }, form);

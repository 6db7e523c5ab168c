// A paragraph with the first words of a text, and a button that draws more of them: a browser takes
// seconds for a hundred thousand elements, and nobody reads them all.

import { element } from "./dom.js";
import { grouped } from "./numbers.js";

const DRAWN_WORDS = 2000;
const LONG_WORDS = 200;

// `pieces(first, end)` gives the nodes of some of the words.
export function runningText(answer, classes, pieces) {
  const count = answer.tokens.length;
  const line = element("p", { class: `running ${classes}` });
  if (count > LONG_WORDS) scrolls(line);
  const said = element("span");
  const more = element("button", { type: "button" });
  const note = element("p", { class: "note more" }, said, " ", more);
  let drawn = 0;
  const draw = () => {
    const end = endOfPart(answer, drawn);
    line.append(...pieces(drawn, end));
    drawn = end;
    said.textContent = `The first ${grouped(drawn)} of ${grouped(count)} words are drawn.`;
    more.textContent = `Draw ${grouped(endOfPart(answer, drawn) - drawn)} more`;
    note.hidden = drawn === count;
  };
  more.addEventListener("click", () => {
    draw();
    if (note.hidden) line.focus(); // the button has lost it
  });
  draw();
  return { line, note };
}

// It gets a height of its own, and is a stop of the keyboard, which scrolls it.
function scrolls(line) {
  line.classList.add("long");
  for (const [name, value] of [["tabindex", 0], ["role", "region"], ["aria-label", "Text"]]) {
    line.setAttribute(name, value);
  }
}

// A part ends where no entity is cut.
function endOfPart({ tokens, spans = [] }, first) {
  const end = first + DRAWN_WORDS;
  if (end >= tokens.length) return tokens.length;
  const cut = spans.find((span) => span.token_start < end && end < span.token_end);
  return cut?.token_end ?? end;
}

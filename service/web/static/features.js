// Which features of a CRF fired at a word, for its tag and for the runner-up, with their weights.

import { element } from "./dom.js";
import { weight } from "./numbers.js";

const SHOWN = 10;

export function featuresView(lattice, t) {
  const candidates = lattice.candidates?.[t];
  if (!candidates) return []; // the model has none
  const both = [candidates.best, candidates.runner_up].filter((candidate) => candidate !== null);
  const widest = Math.max(
    ...both.flatMap(({ features }) => features.map((feature) => Math.abs(feature.weight))),
  );
  const about = element("small", {}, "what speaks for its tag, and for the runner-up");
  const columns = both.map((candidate) => column(candidate, lattice.words, t, widest));
  return [
    element("h3", {}, `Features at “${lattice.words[t]}”`, about),
    element("div", { class: "pairwise" }, ...columns),
  ];
}

function column({ tag, transition, emission, features }, words, t, widest) {
  const rows = features.map((feature) => featureRow(feature, words, t, widest));
  const body = element("tbody", {}, ...rows.slice(0, SHOWN));
  const caption = element(
    "caption",
    {},
    element("strong", {}, tag),
    ` features ${weight(emission)}, ${t ? "tag before" : "begin"} ${weight(transition)}`,
  );
  const table = element("table", { tabindex: -1 }, caption, body);
  if (rows.length <= SHOWN) return element("div", {}, table);
  const more = element("button", { type: "button" }, `Show ${rows.length - SHOWN} more for ${tag}`);
  more.addEventListener("click", () => {
    body.append(...rows.slice(SHOWN));
    more.remove();
    table.focus(); // the button has lost it
  });
  return element("div", {}, table, more);
}

function featureRow({ feature, weight: its }, words, t, widest) {
  const bar = element("span", { class: its < 0 ? "bar-of-weight against" : "bar-of-weight" });
  bar.style.setProperty("--share", (Math.abs(its) / widest).toFixed(3));
  const [where, name] = placed(feature, words, t);
  const said = [element("bdi", { class: "where" }, where), " ", element("bdi", {}, name)];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, ...said),
    element("td", { class: "bars" }, bar),
    element("td", {}, weight(its)),
  );
}

// "-1:lower=jane" is seen of the word before: its name stands instead of the number.
function placed(feature, words, t) {
  const [, offset, name] = /^(-?\d+):(.*)$/s.exec(feature) ?? [null, null, feature];
  if (offset === null) return ["", name];
  const index = t + Number(offset);
  if (index < 0) return ["start", name];
  return [words[index] ?? "end", name];
}

// The answer as a table: entities of `/ner`, words of `/tag`; copied as tab-separated values.

import { copyButton } from "./copying.js";
import { element } from "./dom.js";
import { grouped } from "./numbers.js";
import { meaning } from "./tags.js";

const SHOWN_ROWS = 500;

const COLUMNS = {
  ner: [
    ["text", (text, span) => text.slice(span.start, span.end)],
    ["label", (_, span) => span.label],
    ["meaning", (_, span) => meaning(span.label)],
  ],
  tag: [
    ["text", (text, token) => text.slice(token.start, token.end)],
    ["tag", (_, token) => token.tag],
    ["meaning", (_, token) => meaning(token.tag)],
  ],
};
const COMMON = [
  ["start", (_, part) => part.start],
  ["end", (_, part) => part.end],
  ["confidence", (_, part) => part.confidence?.toFixed(4) ?? ""],
];

export function tableView(task, text, answer) {
  const columns = [...COLUMNS[task], ...COMMON];
  const parts = task === "ner" ? answer.spans : answer.tokens;
  if (parts.length === 0) return [element("p", { class: "note" }, "There are no entities.")];
  const names = columns.map(([name]) => name);
  const rows = parts.map((part) => columns.map(([, value]) => String(value(text, part))));
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.slice(0, SHOWN_ROWS).map((row) => element("tr", {}, ...row.map(cell)));
  const more = rows.length > SHOWN_ROWS ? `The first ${SHOWN_ROWS} of ${grouped(rows.length)} rows; a copy has all. ` : "";
  return [
    copyButton("Copy the table", () => [names, ...rows].map(line).join("\n")),
    element(
      "div",
      { class: "scrolling", tabindex: 0, role: "region", "aria-label": "Table" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    ),
    element("p", { class: "note" }, `${more}start and end count UTF-16 units, as JavaScript does.`),
  ];
}

function cell(value, column) {
  if (column === 0) return element("th", { scope: "row" }, element("bdi", {}, value));
  return element("td", {}, value);
}

const line = (row) => row.map((value) => value.replace(/\s/g, " ")).join("\t");

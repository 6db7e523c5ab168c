// The commands that fetch what the page shows. A key never stands in them, but its variable does.

import { copyButton } from "./copying.js";
import { element } from "./dom.js";
import { grouped } from "./numbers.js";

const SHOWN_CHARS = 20_000;

export function codeView(name, code) {
  const attributes = { tabindex: 0, role: "region", "aria-label": name };
  const shown = element("pre", attributes, element("code", {}, code.slice(0, SHOWN_CHARS)));
  const nodes = [copyButton("Copy", () => code), shown];
  if (code.length <= SHOWN_CHARS) return nodes;
  const note = `The first ${grouped(SHOWN_CHARS)} of ${grouped(code.length)} characters. Copy takes all.`;
  return [...nodes, element("p", { class: "note" }, note)];
}

export const json = (answer) => JSON.stringify(answer, null, 2);

export function curl(url, request, hasKey) {
  const lines = [`curl -s ${quoted(url)}`, "-H 'Content-Type: application/json'"];
  if (hasKey) lines.push('-H "X-API-Key: $TRELLIS_API_KEY"');
  lines.push(`--data-raw ${quoted(JSON.stringify(request))}`);
  return lines.join(" \\\n  ");
}

export function python(url, request, hasKey) {
  const { offset_unit: _, ...asked } = request; // Python counts code points, the default
  const fields = Object.entries(asked).map(([name, value]) => `"${name}": ${literal(value)}`);
  const headers = hasKey ? '    headers={"X-API-Key": os.environ["TRELLIS_API_KEY"]},\n' : "";
  const results = url.endsWith("/ner")
    ? 'for span in answer["spans"]:\n    print(span["label"], span["text"], span["confidence"])'
    : 'for token in answer["tokens"]:\n    print(token["text"], token["tag"], token["confidence"])';
  return `${hasKey ? "import os\n\n" : ""}import requests

response = requests.post(
    ${literal(url)},
    json={${fields.join(", ")}},
${headers}    timeout=60,
)
response.raise_for_status()
answer = response.json()
${results}
`;
}

// A POSIX shell takes everything but the quote itself.
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

// A JSON string is a Python string too.
const literal = (value) => (value === true ? "True" : JSON.stringify(value));

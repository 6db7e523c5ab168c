// What is chosen stands in the fragment of the address, which is never sent to a server. The text
// does not, unless its user asks for a link with it.

export function readState() {
  const read = new URLSearchParams(location.hash.slice(1));
  return {
    task: read.get("task") === "tag" ? "tag" : "ner",
    model: read.get("model"),
    other: read.get("other"),
    text: read.get("text"),
  };
}

export function writeState(state) {
  history.replaceState(null, "", `#${fragment(state)}`);
}

export function linkWithText(state, text) {
  return new URL(`#${fragment({ ...state, text })}`, location.href).href;
}

function fragment(state) {
  const entries = Object.entries(state).filter(([, value]) => value);
  return new URLSearchParams(entries).toString();
}

// A button that copies a text, and says so.

import { element } from "./dom.js";

const SAID_FOR_MS = 1500;

export function copyButton(name, text) {
  const button = element("button", { type: "button", class: "copy" }, name);
  button.addEventListener("click", () => copy(button, text()));
  return button;
}

export async function copy(button, text) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Browsers give the clipboard to pages of HTTPS and of this machine only.
    button.textContent = "The browser does not allow it";
  }
  button.disabled = true;
  setTimeout(() => {
    button.textContent = name;
    button.disabled = false;
  }, SAID_FOR_MS);
}

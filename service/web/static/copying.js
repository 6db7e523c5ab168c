// A button that copies a text, and says so.

import { element } from "./dom.js";

const SAID_FOR_MS = 1500;

export function copyButton(name, text) {
  const button = element("button", { type: "button", class: "copy" }, name);
  button.addEventListener("click", () => copy(button, text()));
  return button;
}

export async function copy(button, text) {
  if (button.ariaDisabled) return; // it still says so
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Browsers give the clipboard to pages of HTTPS and of this machine only.
    button.textContent = "The browser does not allow it";
  }
  button.ariaDisabled = "true"; // `disabled` would lose the focus
  setTimeout(() => {
    button.textContent = name;
    button.ariaDisabled = null;
  }, SAID_FOR_MS);
}

// Runs before the page is drawn, so that a chosen theme does not flash. Without a choice the
// system's is taken, by `color-scheme` of page.css.
(() => {
  const root = document.documentElement;
  // A browser may be told to keep nothing: then a choice lasts as long as the page.
  const storage = () => {
    try {
      return localStorage;
    } catch {
      return null;
    }
  };
  const chosen = storage()?.getItem("trellis-theme");
  if (chosen) root.dataset.theme = chosen;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      storage()?.setItem("trellis-theme", root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  });
})();

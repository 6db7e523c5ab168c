// Tabs as the ARIA practices describe them: one stop of the keyboard, arrows move between them.

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

export function makeTabs(list, panel, onChange) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const select = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", chosen.id);
    onChange(chosen.dataset.tab);
  };
  list.addEventListener("click", ({ target }) => {
    const tab = target.closest("[role=tab]");
    if (tab) select(tab);
  });
  list.addEventListener("keydown", ({ key }) => {
    if (!STEPS[key]) return;
    const next = tabs.indexOf(document.activeElement) + STEPS[key];
    const tab = tabs[(next + tabs.length) % tabs.length];
    tab.focus();
    select(tab);
  });
  return (name) => select(tabs.find((tab) => tab.dataset.tab === name));
}

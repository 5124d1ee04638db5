// @ts-check
/* The list of keys on the page, and the switch for single keys. */

import { find, make } from "./dom.js";
import { BINDINGS } from "./keys.js";
import { t } from "./words.js";

const SWITCH = "adjudge-single-keys";
const PLACES = { text: t("In a text"), segment: t("In a segment"), task: t("Everywhere") };

/** Whether single keys do something outside of a text; on unless someone switched them off. */
export function usesSingleKeys() {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true; // a browser that keeps nothing
  }
}

/** @param {boolean} isOn */
function useSingleKeys(isOn) {
  try {
    localStorage.setItem(SWITCH, isOn ? "on" : "off");
  } catch {
    // it stays as it is
  }
}

/** @param {keyof typeof PLACES} place */
function table(place) {
  const rows = BINDINGS.filter((binding) => binding.place === place)
    .map(({ shown, does }) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, shown)), make("td", {}, does)));
  return make("table", {}, make("caption", {}, PLACES[place]), make("tbody", {}, ...rows));
}

/** Opens the list. */
export function showKeys() {
  const dialog = find(document, "#keys", HTMLDialogElement);
  const list = find(dialog, ".list");
  if (!list.childElementCount) list.append(...Object.keys(PLACES).map((place) => table(/** @type {keyof typeof PLACES} */ (place))));
  const box = find(dialog, "input", HTMLInputElement);
  box.checked = usesSingleKeys();
  box.onchange = () => useSingleKeys(box.checked);
  dialog.showModal();
}

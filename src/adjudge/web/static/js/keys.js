// @ts-check
/* Which key does what. Pure: the page, its key map and docs/annotate.md all read this table. */

import { t } from "./words.js";

/** @typedef {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean}} Press */
/** @typedef {{by: "grapheme" | "word" | "line" | "text", to: "left" | "right" | "start" | "end" | "up" | "down", extends: boolean}} Move */
/**
 * @typedef {object} Binding
 * @property {"text" | "segment" | "task"} place where it works: with the caret in a text, in a segment, everywhere
 * @property {string[]} keys
 * @property {string} action
 * @property {string} shown
 * @property {string} does
 */

/** @type {Binding[]} */
export const BINDINGS = [
  { place: "text", keys: [], action: "", shown: "← → ↑ ↓", does: t("move by character or line") },
  { place: "text", keys: [], action: "", shown: t("Ctrl or Alt with ← →"), does: t("move by word") },
  { place: "text", keys: [], action: "", shown: "Home, End", does: t("go to the start or the end") },
  { place: "text", keys: [], action: "", shown: t("Shift with any of these"), does: t("select") },
  { place: "text", keys: ["w"], action: "word", shown: "W", does: t("select the word, then the next one too") },
  { place: "text", keys: ["Ctrl+a"], action: "everything", shown: "Ctrl+A", does: t("select the whole text") },
  { place: "text", keys: ["1", "2", "3", "4"], action: "severity", shown: "1, 2 …", does: t("mark what is selected, or change the selected mark: least severe first") },
  { place: "text", keys: ["Enter"], action: "menu", shown: "Enter", does: t("open the menu of the selection or of the mark; where neither is, go on") },
  { place: "text", keys: ["n"], action: "next-mark", shown: "N", does: t("go to the next mark") },
  { place: "text", keys: ["p"], action: "previous-mark", shown: "P", does: t("go to the mark before") },
  { place: "text", keys: ["x"], action: "extent", shown: "X", does: t("change where the mark at the caret begins and ends") },
  { place: "text", keys: ["o"], action: "swap", shown: "O", does: t("move the other end of the selection") },
  { place: "text", keys: ["Delete", "Backspace"], action: "remove", shown: "Delete", does: t("remove the mark at the caret") },
  { place: "text", keys: ["Escape"], action: "cancel", shown: "Esc", does: t("select nothing") },
  { place: "segment", keys: ["m"], action: "missing", shown: "M", does: t("something is missing: minor, major, no") },
  { place: "segment", keys: ["f"], action: "fault", shown: "F", does: t("the instruction is not followed: minor, major, no") },
  { place: "segment", keys: ["r"], action: "rating", shown: "R", does: t("go to the rating, or to the choices") },
  { place: "segment", keys: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], action: "digit", shown: "0 … 9", does: t("rate, where nothing is selected") },
  { place: "segment", keys: ["a", "e", "b"], action: "verdict", shown: "A, E, B", does: t("the first is better, equally good, the second is better") },
  { place: "segment", keys: ["/"], action: "seek", shown: t("/ and letters"), does: t("select the first word that begins with them; / again, the next one") },
  { place: "segment", keys: ["t"], action: "text", shown: "T", does: t("go to the text, then to the next one") },
  { place: "segment", keys: ["c"], action: "comment", shown: "C", does: t("go to the comment") },
  { place: "task", keys: ["Enter", "Ctrl+Enter"], action: "done", shown: t("Enter; in a field Ctrl+Enter"), does: t("segment done: go on to the next, at the end finish") },
  { place: "task", keys: ["Alt+ArrowDown"], action: "next", shown: "Alt+↓", does: t("go to the next segment") },
  { place: "task", keys: ["Alt+ArrowUp"], action: "previous", shown: "Alt+↑", does: t("go to the segment before") },
  { place: "task", keys: ["Ctrl+z"], action: "undo", shown: "Ctrl+Z", does: t("undo in this segment") },
  { place: "task", keys: ["Ctrl+Shift+z", "Ctrl+y"], action: "redo", shown: "Ctrl+Shift+Z", does: t("redo") },
  { place: "task", keys: ["g"], action: "guidelines", shown: "G", does: t("show the guidelines") },
  { place: "task", keys: ["?"], action: "keys", shown: "?", does: t("show this list") },
];

/**
 * A press as the table writes it; ⌘ counts as Ctrl, and Shift only beside it.
 * @param {Press} press
 */
export function nameOf(press) {
  const held = press.ctrlKey || press.metaKey;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  const shift = press.shiftKey && (held || press.altKey || press.key.length > 1);
  return [held && "Ctrl", press.altKey && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/**
 * What a press does at a place.
 * @param {Press} press
 * @param {"text" | "segment" | "task"} place
 */
export function actionOf(press, place) {
  const name = nameOf(press);
  return BINDINGS.find((binding) => binding.place === place && binding.keys.includes(name))?.action ?? null;
}

/** @type {Record<string, Move["to"]>} */
const WAYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Home: "start", End: "end" };

/**
 * Where a press moves the caret; null for any other press.
 * @param {Press} press
 * @returns {Move | null}
 */
export function moveOf(press) {
  const to = WAYS[press.key];
  const jumps = press.ctrlKey || press.altKey || press.metaKey;
  if (!to || (jumps && (to === "up" || to === "down"))) return null;
  const by = to === "up" || to === "down" ? "line" : to === "start" || to === "end" ? "text" : jumps ? "word" : "grapheme";
  return { by, to, extends: press.shiftKey };
}

/** @param {string} key */
export const isDigit = (key) => /^[0-9]$/.test(key);

/**
 * Whether a press is a single character, which people can switch off (WCAG 2.1.4).
 * @param {Press} press
 */
export const isSingleKey = (press) => press.key.length === 1 && !press.ctrlKey && !press.metaKey && !press.altKey;

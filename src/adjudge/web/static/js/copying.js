// @ts-check
/* Copying what stands on a page; where a page may not do that, as without https, it is selected for the person. */

import { t } from "./words.js";

/**
 * @param {HTMLElement} element what is copied: its text
 * @param {HTMLElement} said where it is said what became of it
 */
export async function copy(element, said) {
  try {
    await navigator.clipboard.writeText(element.textContent ?? "");
    said.textContent = t("Copied");
  } catch {
    getSelection()?.selectAllChildren(element);
    said.textContent = t("Selected: copy it with Ctrl+C");
  }
}

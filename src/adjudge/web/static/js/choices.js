// @ts-check
/* Which of two translations is better, by criterion. */

import { all, check, find } from "./dom.js";

let serial = 0;

export class Choices {
  /**
   * @param {HTMLElement} element
   * @param {(criterion: string, verdict: "A" | "B" | "E") => void} decided
   */
  constructor(element, decided) {
    this.element = element;
    serial += 1;
    for (const input of all(element, "input", HTMLInputElement)) {
      const criterion = input.name;
      input.name = `${criterion}-${serial}`;
      input.addEventListener("change", () => decided(criterion, /** @type {"A" | "B" | "E"} */ (input.value)));
    }
  }

  /** @param {Record<string, "A" | "B" | "E">} verdicts */
  show(verdicts) {
    for (const group of all(this.element, "fieldset")) check(group, verdicts[group.dataset.criterion ?? ""] ?? null);
  }

  /**
   * Decides by the first criterion that is open, or by the one with the focus.
   * @param {string} verdict
   */
  choose(verdict) {
    const groups = all(this.element, "fieldset");
    const open = groups.find((group) => group.contains(document.activeElement)) ?? groups.find((group) => !group.querySelector("input:checked"));
    find(open ?? groups[0], `input[value=${verdict}]`).click();
  }

  focus() {
    const open = all(this.element, "fieldset").find((group) => !group.querySelector("input:checked"));
    find(open ?? this.element, "input:checked, input").focus();
  }
}

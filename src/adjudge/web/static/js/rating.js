// @ts-check
/* A rating on a line or as choices. Nothing is chosen until someone chooses: a rating is never a default. */

import { all, check, find } from "./dom.js";
import { t } from "./words.js";

/** @typedef {{low: number, high: number, step: number}} Scale */

let serial = 0;
const PAUSE = 600; // milliseconds after which a digit begins another number

export class Rating {
  /**
   * @param {HTMLElement} element
   * @param {Scale} scale
   * @param {(rating: number | null) => void} rated
   */
  constructor(element, scale, rated) {
    this.element = element;
    this.scale = scale;
    this.rated = rated;
    this.typed = "";
    this.typedAt = 0;
    /** @type {number | null} */
    this.rating = this.before = null;
    this.slider = element.querySelector("input[type=range]");
    this.output = element.querySelector("output");
    const ticks = all(element, ".anchors .score").map(({ textContent }) => (Number(textContent) - scale.low) / (scale.high - scale.low))
      .map((share) => (element.matches(":dir(rtl)") ? 1 - share : share)); // of what the middle of the thumb can reach
    if (this.slider instanceof HTMLElement) this.slider.style.setProperty("--ticks", ticks.map((share) => `linear-gradient(var(--soft) 0 0) calc(${100 * share}% + ${0.5 - share} * var(--thumb)) 50% / 1px 12px no-repeat`).join());
    if (this.slider instanceof HTMLInputElement) this.listenToSlider(this.slider);
    else this.listenToChoices(`rating-${++serial}`);
  }

  /** @param {HTMLInputElement} slider */
  listenToSlider(slider) {
    slider.addEventListener("input", () => this.show(Number(slider.value)));
    slider.addEventListener("change", () => this.rated(Number(slider.value)));
    // Who presses just where the line stands changes nothing, and means it all the same; a tap there sends no click.
    slider.addEventListener("pointerup", () => slider.classList.contains("untouched") && this.rated(Number(slider.value)));
    slider.addEventListener("blur", () => { this.typed = ""; });
    slider.addEventListener("keydown", ({ key }) => key === " " && this.rated(Number(slider.value)));
  }

  /** @param {string} name */
  listenToChoices(name) {
    for (const input of all(this.element, "input", HTMLInputElement)) {
      input.name = name;
      input.addEventListener("change", () => this.rated(Number(input.value)));
    }
  }

  /**
   * Digits write the number: 7, then 72; after a pause another one. Beyond the scale the rating is again what it was.
   * @param {string} digit
   * @param {number} at milliseconds
   * @returns {string} why the number is no rating; empty where it is one
   */
  type(digit, at) {
    const { low, high } = this.scale;
    const isNew = !this.typed || at - this.typedAt > PAUSE || high < 10;
    if (isNew) this.before = this.rating;
    this.typed = isNew ? digit : this.typed + digit;
    this.typedAt = at;
    const number = Number(this.typed);
    const fits = number >= low && number <= high;
    if (fits || this.rating !== this.before) this.rated(fits ? number : this.before);
    return fits ? "" : t("{number} is no rating: it is {low} to {high}.", { number: this.typed, low, high });
  }

  /** @param {number | null} rating */
  show(rating) {
    this.rating = rating;
    if (!(this.slider instanceof HTMLInputElement)) {
      check(this.element, rating === null ? null : String(rating));
      return;
    }
    this.slider.classList.toggle("untouched", rating === null);
    this.slider.value = String(rating ?? (this.scale.low + this.scale.high) / 2);
    this.slider.setAttribute("aria-valuetext", rating === null ? t("not rated yet") : String(rating));
    if (this.output) this.output.textContent = rating === null ? "–" : String(rating);
  }

  focus() {
    (this.slider instanceof HTMLElement ? this.slider : find(this.element, "input:checked, input")).focus();
  }
}

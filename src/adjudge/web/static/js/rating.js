// @ts-check
/* A rating on a line or as choices. Nothing is chosen until someone chooses: a rating is never a default. */

import { all, check, find } from "./dom.js";
import { t } from "./words.js";

/** @typedef {{low: number, high: number, step: number}} Scale */

let serial = 0;
const PAUSE = 1500; // milliseconds after which a digit begins another number

export class Rating {
  /**
   * @param {HTMLElement} element
   * @param {Scale} scale
   * @param {(rating: number) => void} rated
   */
  constructor(element, scale, rated) {
    this.element = element;
    this.scale = scale;
    this.rated = rated;
    this.typed = "";
    this.typedAt = 0;
    this.slider = element.querySelector("input[type=range]");
    this.output = element.querySelector("output");
    const ticks = all(document, "#anchors option", HTMLOptionElement).map(({ value }) => 100 * (Number(value) - scale.low) / (scale.high - scale.low));
    if (this.slider instanceof HTMLElement) this.slider.style.setProperty("--ticks", ticks.map((at) => (element.matches(":dir(rtl)") ? 100 - at : at)).map((at) => `linear-gradient(var(--soft) 0 0) ${at}% 50% / 1px 10px no-repeat`).join());
    if (this.slider instanceof HTMLInputElement) this.listenToSlider(this.slider);
    else this.listenToChoices(`rating-${++serial}`);
  }

  /** @param {HTMLInputElement} slider */
  listenToSlider(slider) {
    slider.addEventListener("input", () => this.show(Number(slider.value)));
    slider.addEventListener("change", () => this.rated(Number(slider.value)));
    // Who presses just where the line stands changes nothing, and means it all the same; a tap there sends no click.
    slider.addEventListener("pointerup", () => slider.classList.contains("untouched") && this.rated(Number(slider.value)));
    slider.addEventListener("keydown", (event) => this.type(event));
    slider.addEventListener("blur", () => { this.typed = ""; });
  }

  /** @param {string} name */
  listenToChoices(name) {
    for (const input of all(this.element, "input", HTMLInputElement)) {
      input.name = name;
      input.addEventListener("change", () => this.rated(Number(input.value)));
      input.addEventListener("keydown", (event) => this.choose(event));
    }
  }

  /**
   * A digit chooses the rating that it names.
   * @param {KeyboardEvent} event
   */
  choose(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = all(this.element, "input", HTMLInputElement).find(({ value }) => value === event.key);
    if (!chosen) return;
    event.preventDefault();
    chosen.focus();
    chosen.checked = true;
    this.rated(Number(chosen.value));
  }

  /**
   * Digits write the number: 7, then 72.
   * @param {KeyboardEvent} event
   */
  type(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!/^[0-9]$/.test(event.key)) {
      this.typed = "";
      if (event.key === "Enter" || event.key === " ") this.take(Number(/** @type {HTMLInputElement} */ (event.target).value));
      return;
    }
    event.preventDefault();
    if (event.timeStamp - this.typedAt > PAUSE) this.typed = "";
    this.typedAt = event.timeStamp;
    const longer = this.typed + event.key;
    this.typed = Number(longer) <= this.scale.high ? longer : event.key;
    this.take(Number(this.typed));
  }

  /** @param {number} value */
  take(value) {
    const { low, high } = this.scale;
    if (value >= low && value <= high) this.rated(value);
  }

  /** @param {number | null} rating */
  show(rating) {
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

// @ts-check
/* A segment that was changed elsewhere, too: both states in words, below its texts, and the choice between them. */

import { make } from "./dom.js";
import { categoryWords, place, protocolWords, t } from "./words.js";

/** @typedef {import("./item.js").State} State */
/** @typedef {import("./page.js").WorkData} WorkData */

const VERDICTS = { A: t("A is better"), B: t("B is better"), E: t("equally good") };

/**
 * What a state says, a line each; what a person wrote or marked has its own direction.
 * @param {State} state
 * @param {WorkData} data
 * @returns {HTMLElement[]}
 */
export function linesOf(state, data) {
  const own = (/** @type {string} */ text) => make("bdi", {}, text);
  const severity = (/** @type {string} */ name) => protocolWords("severity", name);
  /** @type {(string | (string | Node)[])[]} */
  const lines = state.translations.flatMap((judged, index) => [
    ...(data.scale ? [judged.rating === null ? t("no rating") : t("rating {rating}", { rating: judged.rating })] : []),
    ...judged.spans.map((span) => [
      ...place(span.side === "source" ? t("{kind}: “{text}” in the source") : t("{kind}: “{text}”"), {
        kind: [severity(span.severity), ...(span.category ? [categoryWords(span.category)] : [])].join(" "), text: own(span.text),
      }),
      ...(span.note ? [" (", own(span.note), ")"] : [])]),
    ...(judged.missing ? [t("{severity}: something is missing", { severity: severity(judged.missing.severity) })] : []),
    ...(judged.instruction_fault ? [t("{severity}: the instruction is not followed", { severity: severity(judged.instruction_fault) })] : []),
    ...(state.is_non_translation[index] ? [t("no translation of the source at all")] : []),
  ].map((line) => [...(state.translations.length > 1 ? [`${"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index] ?? index + 1}: `] : []), ...[line].flat()]));
  const verdicts = Object.entries(state.verdicts).map(([criterion, verdict]) => `${protocolWords("criterion", criterion)}: ${VERDICTS[verdict]}`);
  const chosen = state.chosen === null ? [] : [t("draft {number} chosen", { number: state.chosen + 1 })];
  const edited = state.edited === null ? [] : [place(t("reference: {text}"), { text: own(state.edited) })];
  const found = [...lines, ...verdicts, ...chosen, ...edited, ...(state.comment ? [place(t("comment: {text}"), { text: own(state.comment) })] : [])];
  return (found.length ? found : [t("nothing")]).map((line) => make("li", {}, ...[line].flat()));
}

export class Conflict {
  /**
   * @param {HTMLElement} before the part of the segment below which it stands
   * @param {string} name of the segment
   * @param {WorkData} data
   * @param {State} theirs
   * @param {{keep: () => void, take: () => void}} acts
   */
  constructor(before, name, data, theirs, acts) {
    this.data = data;
    this.ours = make("ul");
    const side = (/** @type {string} */ title, /** @type {HTMLElement} */ list, /** @type {string} */ words, /** @type {() => void} */ act) => {
      const button = make("button", { type: "button" }, words);
      button.addEventListener("click", () => { this.element.remove(); act(); });
      return make("section", {}, make("h3", {}, title), list, button);
    };
    this.element = make("div", { class: "notice asking conflict", role: "alert" },
      make("p", {}, t("Somewhere else, in another tab or browser, {name} was changed after this page was loaded. Which shall count? Undo (Ctrl+Z) brings the other one back.", { name })),
      make("div", { class: "states" },
        side(t("On this page"), this.ours, t("Keep what is on this page"), acts.keep),
        side(t("Saved there"), this.list(make("ul"), theirs), t("Take what was saved there"), acts.take)));
    before.after(this.element);
  }

  /**
   * @param {HTMLElement} list
   * @param {State} state
   */
  list(list, state) {
    list.replaceChildren(...linesOf(state, this.data));
    return list;
  }

  /** @param {State} ours as it is now: the person may work on meanwhile */
  show(ours) {
    this.list(this.ours, ours);
  }
}

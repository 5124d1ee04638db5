// @ts-check
/* A segment that was changed elsewhere, too: both states in words, below its texts, and the choice between them. */

import { make } from "./dom.js";

/** @typedef {import("./item.js").State} State */
/** @typedef {import("./page.js").WorkData} WorkData */

const VERDICTS = { A: "A is better", B: "B is better", E: "equally good" };

/**
 * What a state says, a line each; what a person wrote or marked has its own direction.
 * @param {State} state
 * @param {WorkData} data
 * @returns {HTMLElement[]}
 */
export function linesOf(state, data) {
  const own = (/** @type {string} */ text) => make("bdi", {}, text);
  /** @type {(string | (string | Node)[])[]} */
  const lines = state.translations.flatMap((judged, index) => [
    ...(data.scale ? [judged.rating === null ? "no rating" : `rating ${judged.rating}`] : []),
    ...judged.spans.map((span) => [`${[span.severity, span.category].filter(Boolean).join(" ")}: “`, own(span.text), `”${span.side === "source" ? " in the source" : ""}`,
      ...(span.note ? [" (", own(span.note), ")"] : [])]),
    ...(judged.missing ? [`${judged.missing.severity}: something is missing`] : []),
    ...(judged.instruction_fault ? [`${judged.instruction_fault}: the instruction is not followed`] : []),
    ...(state.is_non_translation[index] ? ["no translation of the source at all"] : []),
  ].map((line) => [...(state.translations.length > 1 ? [`${"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index] ?? index + 1}: `] : []), ...[line].flat()]));
  const verdicts = Object.entries(state.verdicts).map(([criterion, verdict]) => `${criterion}: ${VERDICTS[verdict]}`);
  const chosen = state.chosen === null ? [] : [`draft ${state.chosen + 1} chosen`];
  const edited = state.edited === null ? [] : [["reference: ", own(state.edited)]];
  const found = [...lines, ...verdicts, ...chosen, ...edited, ...(state.comment ? [["comment: ", own(state.comment)]] : [])];
  return (found.length ? found : ["nothing"]).map((line) => make("li", {}, ...[line].flat()));
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
      make("p", {}, `Somewhere else, in another tab or browser, ${name} was changed after this page was loaded. Which shall count? Undo (Ctrl+Z) brings the other one back.`),
      make("div", { class: "states" },
        side("On this page", this.ours, "Keep what is on this page", acts.keep),
        side("Saved there", this.list(make("ul"), theirs), "Take what was saved there", acts.take)));
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

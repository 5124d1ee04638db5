// @ts-check
/* One segment: its state, what it shows, and what is done to it. */

import { Between } from "./between.js";
import { Choices } from "./choices.js";
import { Conflict } from "./conflict.js";
import { copyOf, find, make } from "./dom.js";
import { History } from "./history.js";
import { addSpan, besideSpan, changeSpan, removeSpan } from "./marks.js";
import { PostEdit } from "./postedit.js";
import { Sheet } from "./sheet.js";
import { TranslationView } from "./translation.js";
import { categoryWords, protocolWords, t } from "./words.js";

/** @typedef {import("./marks.js").Judged} Judged */
/** @typedef {import("./marks.js").Span} Span */
/** @typedef {import("./marks.js").Severity} Severity */
/** @typedef {import("./page.js").Work} Work */
/**
 * @typedef {object} State What the server keeps of an item.
 * @property {Judged[]} translations in the order shown
 * @property {Record<string, "A" | "B" | "E">} verdicts
 * @property {number | null} chosen
 * @property {string | null} edited
 * @property {string} comment
 * @property {boolean[]} is_non_translation
 */
/**
 * @typedef {object} ItemData
 * @property {number} id
 * @property {"text" | "image" | "audio" | "video"} media
 * @property {string} source its text, or the address of its file
 * @property {{text: string, given: Partial<Span>[]}[]} translations
 * @property {string[]} hashes
 * @property {State} state
 * @property {number} revision
 * @property {boolean} complete
 * @property {string} says what a tutorial tells of it, or the instruction that the translation had to follow
 * @property {boolean} marks_instruction whether it can be marked that the instruction is not followed
 * @property {State[]} between in an adjudication, what each person said
 */

const TYPED = new Set(["rate", "comment", "edit", "note"]);
const PAUSE = 600; // milliseconds: what is typed goes to the server when the hands rest

export class ItemView {
  /**
   * @param {Work} work
   * @param {ItemData} data
   * @param {number} place
   * @param {State | null} unsaved
   */
  constructor(work, data, place, unsaved) {
    this.work = work;
    this.data = data;
    this.isComplete = data.complete;
    this.isDeclared = data.complete;
    this.history = new History(unsaved ?? data.state);
    this.lastKind = "";
    /** @type {{sheet: Sheet, id: string} | null} the mark whose place is being changed */
    this.placing = null;
    /** @type {Conflict | null} */
    this.conflict = null;
    this.element = copyOf("item");
    const number = find(this.element, ".number");
    number.textContent = String(place + 1);
    number.setAttribute("aria-label", t("Segment {number}", { number: place + 1 }));
    find(this.element, ".instructions").textContent = data.says;
    this.sheetListener = {
      selecting: (/** @type {Sheet} */ sheet) => !this.placing && work.menu.offer(sheet),
      sought: (/** @type {string | null} */ letters) => work.hint(letters === null ? "" : t("Go to a word: {letters}", { letters })),
      selected: (/** @type {Sheet} */ sheet, /** @type {boolean} */ byHand) => this.selected(sheet, byHand),
      pressed: (/** @type {Sheet} */ sheet, /** @type {Span} */ span) => this.openMenu(sheet, span),
      spoken: (/** @type {string} */ text) => work.say(text),
    };
    this.source = this.makeSource();
    this.translations = data.translations.map((_, index) => new TranslationView(this, index));
    find(this.element, ".translations").append(...this.translations.map((view) => view.element));
    this.makeParts();
    this.listen();
    this.render();
  }

  // How it is made...

  /** @returns {Sheet | null} null where the source is no text */
  makeSource() {
    const { work, data } = this;
    const place = find(this.element, ".source .sheet");
    if (data.media === "text") {
      return new Sheet(place, {
        text: data.source, language: work.data.source, side: "source", translation: 0, isMarkable: work.data.marks_source,
        name: t("Source, {language}", { language: work.data.source.name }), invisible: work.data.invisible,
      }, this.sheetListener);
    }
    const tag = { image: "img", audio: "audio", video: "video" }[data.media];
    /** @type {Record<string, string>} */
    const more = data.media === "image" ? { alt: t("The source is this image.") } : { controls: "", preload: "metadata", "aria-label": t("Source") };
    place.replaceChildren(make(tag, { src: data.source, ...more }));
    return null;
  }

  makeParts() {
    const choices = this.element.querySelector(".choices");
    this.choices = choices instanceof HTMLElement ? new Choices(choices, (criterion, verdict) => {
      this.change("verdict", { ...this.state, verdicts: { ...this.state.verdicts, [criterion]: verdict } });
    }) : null;
    const editing = this.element.querySelector(".editing");
    this.postEdit = editing instanceof HTMLElement ? new PostEdit(editing, this.translations.map((view) => view.element),
      this.data.translations.map(({ text }) => text), this.work.data.target,
      (kind, edit) => this.change(kind, { ...this.state, ...edit })) : null;
    const between = this.element.querySelector(".between");
    this.between = between instanceof HTMLElement ? new Between(between, this) : null;
  }

  listen() {
    const comment = this.commentArea;
    comment.addEventListener("input", () => this.change("comment", { ...this.state, comment: comment.value }));
    comment.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closeComment();
    });
    this.element.querySelector(".done")?.addEventListener("click", (event) => {
      event.stopPropagation(); // the next segment is the current one now
      this.work.finishItem(this);
    });
    this.element.addEventListener("focusin", () => this.work.turnTo(this));
    this.element.addEventListener("click", () => this.work.turnTo(this));
    this.element.addEventListener("focusout", () => { this.lastKind = ""; });
  }

  openComment() {
    find(this.element, ".comment", HTMLDetailsElement).open = true;
    this.commentArea.focus();
  }

  closeComment() {
    find(this.element, ".comment", HTMLDetailsElement).open = false;
    this.focusText();
  }

  get commentArea() {
    return find(this.element, ".comment textarea", HTMLTextAreaElement);
  }

  /** @returns {State} */
  get state() {
    return this.history.present;
  }

  // How it changes...

  /**
   * @param {string} kind
   * @param {State} state
   * @param {string} [sent] kind that the server knows
   */
  change(kind, state, sent = kind) {
    if (state === this.state) return;
    this.history = this.history.advance(state, TYPED.has(kind) && kind === this.lastKind);
    this.lastKind = kind;
    this.isComplete = false;
    this.work.send(this, sent, TYPED.has(kind) ? PAUSE : 0);
    this.render();
  }

  /**
   * @param {number} index of the translation
   * @param {string} kind
   * @param {(judged: Judged) => Judged} act
   * @param {string} [sent]
   */
  judge(index, kind, act, sent = kind) {
    const before = this.state.translations[index];
    const after = act(before);
    if (after === before) return;
    const translations = this.state.translations.map((judged, i) => (i === index ? after : judged));
    this.change(kind, { ...this.state, translations }, sent);
  }

  /**
   * @param {number} index
   * @param {boolean} value
   */
  setNonTranslation(index, value) {
    const all_ = this.data.translations.map((_, i) => (i === index ? value : this.state.is_non_translation[i] ?? false));
    this.change("non-translation", { ...this.state, is_non_translation: all_ }, "category");
  }

  /**
   * What a person said stands for one's own judgement, until it is changed or undone; one's own comment stays.
   * @param {State} said
   * @param {string} name
   */
  takeOver(said, name) {
    this.work.menu.close();
    this.change("take", { ...said, comment: this.state.comment || said.comment }, "restore");
    this.work.say(t("taken over from {person}", { person: name }));
  }

  /** @param {"undo" | "redo"} way */
  step(way) {
    const next = this.history[way]();
    if (next === this.history) return this.work.say(way === "undo" ? t("nothing to undo") : t("nothing to redo"));
    this.history = next;
    this.lastKind = "";
    this.work.menu.close();
    this.work.send(this, way, 0);
    this.work.say(way === "undo" ? t("undone") : t("redone"));
    return this.render();
  }

  /**
   * Someone else changed it, too: asks which state counts. Undo brings the other one back, whichever is chosen.
   * @param {State} theirs
   * @param {{keep: () => void, take: () => void}} acts
   */
  ask(theirs, acts) {
    this.conflict?.element.remove();
    this.conflict = new Conflict(find(this.element, ".pair"), this.work.nameOf(this.data.id), this.work.data, theirs, {
      keep: () => this.settle(new History(this.state, [...this.history.past, theirs]), acts.keep),
      take: () => this.settle(this.history.advance(theirs), acts.take),
    });
    this.render();
  }

  /**
   * @param {History<State>} history in which the other state is one step back
   * @param {() => void} act
   */
  settle(history, act) {
    this.conflict = null;
    this.history = history;
    this.lastKind = "";
    act();
    this.render();
  }

  // Marks...

  /**
   * @param {Sheet} sheet
   * @param {boolean} byHand
   */
  selected(sheet, byHand) {
    if (!byHand) return this.work.menu.close();
    if (this.placing?.sheet === sheet) return this.place();
    this.work.turnTo(this);
    return this.openMenu(sheet, null);
  }

  /**
   * @param {Sheet} sheet
   * @param {Span | null} span
   */
  openMenu(sheet, span) {
    this.work.turnTo(this);
    this.placing = null;
    this.work.menu.open(sheet, span);
  }

  /**
   * Marks the selection, or changes the mark there.
   * @param {Sheet} sheet
   * @param {Severity} severity
   */
  mark(sheet, severity) {
    const span = sheet.spanHere;
    const stretch = sheet.selection;
    if (!span && !stretch) return this.work.say(t("nothing is selected"));
    if (span) this.judge(sheet.translation, "severity", (judged) => (span.severity === severity ? judged : changeSpan(judged, span.id, { severity })));
    else if (stretch) {
      const [start, end] = stretch;
      const fields = { side: sheet.side, start, end, text: sheet.textOf(stretch), severity, category: null, note: "" };
      this.judge(sheet.translation, "mark", (judged) => addSpan(judged, fields));
      if (!this.work.data.categories.length) sheet.select(end, end); // digits rate from now on
    }
    this.work.say(t("marked {severity}: {text}", { severity: protocolWords("severity", severity), text: stretch ? sheet.textOf(stretch) : span?.text ?? "" }));
    return this.afterMark(sheet);
  }

  /**
   * Where a category is asked for, the menu stays for it.
   * @param {Sheet} sheet
   */
  afterMark(sheet) {
    const { menu, data } = this.work;
    const span = sheet.spanHere;
    if (data.categories.length && span) {
      menu.open(sheet, span);
      return;
    }
    menu.close();
    sheet.text.focus({ preventScroll: true });
  }

  /**
   * @param {Sheet} sheet
   * @param {{category?: string | null, note?: string}} fields
   */
  detail(sheet, fields) {
    const span = sheet.spanHere;
    if (span) this.judge(sheet.translation, "note" in fields ? "note" : "category", (judged) => changeSpan(judged, span.id, fields), "category");
  }

  /** @param {Sheet} sheet */
  remove(sheet) {
    const span = sheet.spanHere;
    if (!span) return this.work.say(t("no mark here"));
    this.judge(sheet.translation, "unmark", (judged) => removeSpan(judged, span.id));
    sheet.select(span.start, span.start);
    return this.work.say(t("mark removed: {text}", { text: span.text }));
  }

  /**
   * From now on the selection is the place of the mark at the caret.
   * @param {Sheet} sheet
   */
  startPlacing(sheet) {
    const span = sheet.spanHere;
    if (!span) return this.work.say(t("no mark here"));
    this.placing = { sheet, id: span.id };
    sheet.select(span.start, span.end);
    return this.work.hint(t("Select where the mark should be, then press Enter. Esc leaves it as it was."));
  }

  place() {
    const { sheet, id } = this.placing ?? {};
    const stretch = sheet?.selection;
    if (!sheet || !id || !stretch) return;
    this.placing = null;
    const [start, end] = stretch;
    this.judge(sheet.translation, "mark", (judged) => changeSpan(judged, id, { start, end, text: sheet.textOf(stretch) }));
    this.work.hint("");
    this.work.say(t("moved to: {text}", { text: sheet.textOf(stretch) }));
  }

  // Keys...

  /**
   * What a key does in a text.
   * @param {Sheet} sheet
   * @param {string} action
   * @param {string} key
   * @returns {boolean} whether it does something there
   */
  actInText(sheet, action, key) {
    const { severities } = this.work.data;
    const span = sheet.spanHere ?? null;
    if (action === "severity" && !sheet.selection) return false;
    if (action === "menu" && !sheet.selection && !span && !this.placing) return false;
    const acts = {
      severity: () => Number(key) <= severities.length && this.mark(sheet, severities[Number(key) - 1]),
      menu: () => this.enter(sheet, span),
      word: () => sheet.selectWord(),
      everything: () => sheet.selectAll(),
      swap: () => sheet.swap(),
      extent: () => this.startPlacing(sheet),
      remove: () => this.remove(sheet),
      cancel: () => this.cancel(sheet),
      "next-mark": () => this.goToMark(sheet, 1),
      "previous-mark": () => this.goToMark(sheet, -1),
    };
    acts[/** @type {keyof typeof acts} */ (action)]();
    return true;
  }

  /**
   * Looks for a word in the first text.
   * @param {KeyboardEvent} event
   */
  seek(event) {
    this.focusText();
    this.sheets.find(({ text }) => text === document.activeElement)?.seek(event);
  }

  /**
   * A digit of the rating; of several translations, that with the focus is rated.
   * @param {KeyboardEvent} event
   */
  rate(event) {
    const { rating, element } = this.translationHere;
    if (this.translations.length > 1 && !element.contains(document.activeElement)) return this.work.say(t("go to a translation first"));
    const refused = rating?.type(event.key, event.timeStamp);
    if (refused) this.work.hint(refused);
  }

  /**
   * @param {Sheet} sheet
   * @param {Span | null} span
   */
  enter(sheet, span) {
    if (this.placing) return this.place();
    this.openMenu(sheet, span);
    return this.work.menu.focus();
  }

  /** @param {Sheet} sheet */
  cancel(sheet) {
    this.placing = null;
    this.work.hint("");
    this.work.menu.close();
    sheet.clear();
  }

  /**
   * @param {Sheet} sheet
   * @param {1 | -1} step
   */
  goToMark(sheet, step) {
    const here = sheet.spanHere;
    const span = here && !sheet.selection ? here : besideSpan(this.state.translations[sheet.translation], sheet.side, here?.id ?? null, step);
    if (!span) return this.work.say(t("no further mark"));
    sheet.select(span.start, span.end);
    sheet.light(span.id);
    const kind = [protocolWords("severity", span.severity), span.category && categoryWords(span.category), span.given !== null && t("marked beforehand")];
    return this.work.say(`${kind.filter(Boolean).join(", ")}: ${span.text}`);
  }

  /** The text with the caret in it, or else the first one. */
  get sheets() {
    const sheets = [...this.translations.map(({ sheet }) => sheet), ...(this.source ? [this.source] : [])];
    return sheets.filter(({ text }) => text.tabIndex === 0);
  }

  /** Goes to the next text of this segment. */
  focusText() {
    const { sheets } = this;
    const here = sheets.findIndex(({ text }) => text === document.activeElement);
    const next = sheets[(here + 1) % sheets.length];
    if (next) next.text.focus();
    else this.focusControls();
  }

  /** The translation that has the focus, or the first one. */
  get translationHere() {
    return this.translations.find(({ element }) => element.contains(document.activeElement)) ?? this.translations[0];
  }

  focusControls() {
    (this.choices ?? this.postEdit ?? { focus: () => this.translationHere.focusControls() }).focus();
  }

  // What there is to see...

  render() {
    const { state } = this;
    this.translations.forEach((view, index) => view.show(state.translations[index], state.is_non_translation[index] ?? false));
    this.source?.show(state.translations[0].spans);
    this.choices?.show(state.verdicts);
    this.postEdit?.show(state);
    this.conflict?.show(state);
    this.between?.show(state);
    if (this.commentArea.value !== state.comment) this.commentArea.value = state.comment;
    find(this.element, ".comment").classList.toggle("written", state.comment !== "");
    this.renderStatus();
  }

  renderStatus() {
    const left = this.lacks();
    this.element.classList.toggle("complete", !left.length);
    this.element.querySelector(".done")?.setAttribute("aria-pressed", String(this.isDeclared));
  }

  /** What is still to do here; the server has the last word. */
  lacks() {
    const { data } = this.work;
    const { state } = this;
    const left = data.criteria.filter((criterion) => !state.verdicts[criterion]).map((criterion) => protocolWords("criterion", criterion));
    if (data.scale && state.translations.some(({ rating }) => rating === null)) left.push(state.translations.length > 1 ? t("ratings") : t("rating"));
    if (data.categories.length && state.translations.some(({ spans }) => spans.some(({ category }) => !category))) left.push(t("categories"));
    if (data.shows === "candidates" && state.chosen === null) left.push(t("choose a draft"));
    if (data.shows === "candidates" && state.chosen !== null && !state.edited?.trim()) left.push(t("write the reference"));
    if (data.must_declare && !this.isDeclared) left.push(t("say that all errors are marked"));
    return left;
  }

  /** @param {boolean} isCurrent */
  setCurrent(isCurrent) {
    if (isCurrent) return this.element.setAttribute("aria-current", "true");
    this.element.removeAttribute("aria-current");
    this.placing = null;
    for (const { rating } of this.translations) if (rating) rating.typed = "";
    return this.sheets.forEach((sheet) => sheet.leave());
  }
}

// @ts-check
/* The annotator's page: a document's segments, and what holds them together. */

import { address, get, post } from "./api.js";
import { all, find, make, takesLetters } from "./dom.js";
import { markEnd } from "./ending.js";
import { ItemView } from "./item.js";
import { actionOf, isSingleKey } from "./keys.js";
import { showKeys, usesSingleKeys } from "./keymap.js";
import { Menu } from "./menu.js";
import { ask, askWayIn, showSaved, withdraw } from "./notices.js";
import { Queue, hold, newId } from "./queue.js";
import { Store } from "./store.js";
import { Tabs } from "./tabs.js";
import { Stopwatch } from "./timing.js";
import { t } from "./words.js";

/** @typedef {import("./sheet.js").Language} Language */
/** @typedef {import("./item.js").ItemData} ItemData */
/**
 * @typedef {object} WorkData
 * @property {number} assignment
 * @property {number | null} number null of a tutorial
 * @property {string} frame what stands around the segments; a task with another one is a page of its own
 * @property {string} person
 * @property {Language} source
 * @property {Language} target
 * @property {"one" | "several" | "pair" | "candidates"} shows
 * @property {{low: number, high: number, step: number} | null} scale
 * @property {import("./marks.js").Severity[]} severities
 * @property {string[]} categories
 * @property {string | null} omission category of what is missing
 * @property {string[]} criteria
 * @property {boolean} marks_source
 * @property {boolean} must_declare whether a person must say that all is marked
 * @property {number} idle_after seconds
 * @property {boolean} is_editable
 * @property {import("./paint.js").Invisible} invisible
 * @property {ItemData[]} items
 */

const now = () => Date.now() / 1000;
const LEAST = 1; // seconds worth telling
const INPUTS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "input"];

export class Work {
  /**
   * @param {WorkData} data
   * @param {Store | null} store
   */
  constructor(data, store) {
    this.queue = new Queue({ store, post, person: data.person, page: newId(), listener: this });
    this.menu = new Menu(find(document, "#menu"), {
      severity: (sheet, severity) => this.current?.mark(sheet, severity),
      detail: (sheet, fields) => this.current?.detail(sheet, fields),
      acted: (sheet, act) => (act === "remove" ? this.current?.remove(sheet) : this.current?.startPlacing(sheet)),
    });
    this.take(data);
  }

  /** @param {WorkData} data of the task that is worked on from now on */
  take(data) {
    this.data = data;
    this.watch = new Stopwatch(data.idle_after, now());
    this.tabs = new Tabs(data.assignment, () => this.workElsewhere());
    /** @type {ItemView[]} */
    this.items = [];
    /** @type {ItemView | null} */
    this.current = null;
    this.isEnding = false;
    this.isDragging = this.isTaking = false;
    this.clicks = this.y = 0;
  }

  async start() {
    hold(this.queue.page);
    this.listen();
    await this.open();
  }

  /** @param {boolean} isNew whether the server sent the task a moment ago */
  async open(isNew = false) {
    const isHere = this.data.is_editable && await this.tabs.open();
    await this.queue.adopt(isHere ? this.data.assignment : null);
    if (!isNew) await this.catchUp();
    this.items = this.data.items.map((item, place) => {
      this.queue.revisions.set(item.id, item.revision);
      return new ItemView(this, item, place, /** @type {any} */ (this.queue.unsaved(this.data.assignment, item.id)));
    });
    find(document, "#items").replaceChildren(...this.items.map(({ element }) => element));
    for (const item of this.items) item.render(); // ranges of an element end when it is moved: paint them where it is now
    find(document, "#end").hidden = false;
    this.turnTo(this.items.find((item) => item.lacks().length) ?? this.items[0]);
    this.setInert(!isHere);
    this.queue.flush();
    document.body.dataset.ready = "";
  }

  /** What the server has now: while this page was on its way, the one before it may have saved more. */
  async catchUp() {
    const newest = new Map((await this.newest()).map((item) => [item.id, item]));
    for (const item of this.data.items) Object.assign(item, newest.get(item.id), { hashes: item.hashes }); // of the texts that are shown
  }

  /** @returns {Promise<ItemData[]>} none where the server does not tell */
  async newest() {
    const { status, body } = await get(`/api/work/${this.data.assignment}`);
    return status === 200 ? body.items : [];
  }

  listen() {
    document.addEventListener("keydown", (event) => event.isComposing && event.stopImmediatePropagation(), { capture: true }); // an input method's own
    for (const type of ["mousedown", "keydown"]) document.addEventListener(type, () => this.takeSelections(), { capture: true });
    document.addEventListener("keydown", (event) => this.press(event));
    for (const type of INPUTS) document.addEventListener(type, () => this.watch.touch(now()), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => this.watch.show(!document.hidden, now()));
    document.addEventListener("mousemove", ({ clientX, clientY }) => {
      if (this.isDragging) [this.menu.x, this.y] = [clientX, clientY];
    });
    document.addEventListener("mousedown", ({ target, detail }) => {
      [this.isDragging, this.clicks] = [!this.menu.element.contains(/** @type {Node} */ (target)), detail];
    });
    document.addEventListener("mouseup", (event) => this.letGo(event));
    document.addEventListener("selectionchange", () => this.followSelection());
    addEventListener("popstate", () => location.pathname === address(`/work/${this.data.assignment}`) || location.reload());
    addEventListener("pagehide", () => this.leave());
    addEventListener("online", () => this.queue.flush());
    addEventListener("beforeunload", (event) => {
      if (this.queue.waiting && !this.queue.isKept) event.preventDefault();
    });
    find(document, "#finish").addEventListener("click", () => this.finish());
    find(document, "#show-message").addEventListener("click", () => this.showMessage());
    find(document, "#show-keys").addEventListener("click", () => showKeys());
    find(document, "#show-guidelines").addEventListener("click", () => this.showGuidelines());
  }

  // Selecting...

  /** The menu opens while the mouse still drags forward; on the way to it the selection stays as it was. */
  followSelection() {
    const isForward = this.isDragging && getSelection()?.direction !== "backward" && !(this.menu.sheet && this.y < this.menu.bottom);
    for (const sheet of this.sheets) {
      sheet.followTouch();
      if (isForward) sheet.followMouse();
    }
  }

  /** @param {MouseEvent} event whose button is let go: on a severity, it marks */
  letGo({ clientX, target }) {
    this.menu.x = clientX;
    const isInMenu = this.isDragging && this.menu.sheet && this.menu.element.contains(/** @type {Node} */ (target));
    this.isDragging = false;
    if (!isInMenu) {
      this.isTaking = true; // after the click that belongs to it
      return setTimeout(() => this.takeSelections());
    }
    getSelection()?.removeAllRanges();
    return /** @type {HTMLElement} */ (target).closest("button")?.click();
  }

  /** Takes over what the mouse selected. A busy browser runs the timer late, so the next click or key comes here first. */
  takeSelections() {
    if (!this.isTaking) return;
    this.isTaking = false;
    this.sheets.forEach((sheet) => sheet.takeSelection(this.clicks > 1));
  }

  // Saving...

  /**
   * Puts a change on its way to the server.
   * @param {ItemView} item
   * @param {string} kind
   * @param {number} delay milliseconds
   */
  send(item, kind, delay) {
    this.watch.touch(now());
    if (kind !== "time") this.hint("");
    const { id, hashes } = item.data;
    const { assignment } = this.data;
    this.queue.add({ assignment, item: id, kind, at: now(), state: item.state, hashes, ...this.watch.take(id) }, delay);
  }

  leave() {
    this.tellTime();
    this.queue.flush();
  }

  /**
   * Tells the time that was spent since the last change.
   * @param {number} least seconds
   */
  tellTime(least = LEAST) {
    this.watch.touch(now());
    for (const item of this.items) {
      const spent = this.watch.spent.get(item.data.id);
      if (spent && spent.active + spent.idle >= least) this.send(item, "time", 0);
    }
  }

  /**
   * @param {number} id
   * @param {boolean} isComplete
   */
  saved(id, isComplete) {
    const item = this.item(id);
    if (!item || this.queue.unsaved(this.data.assignment, id)) return;
    item.isComplete = item.isDeclared = isComplete;
    item.renderStatus();
    withdraw(`refused-${id}`);
  }

  get sheets() {
    return this.items.flatMap((item) => item.sheets);
  }

  /** @param {number} id */
  item(id) {
    return this.items.find((item) => item.data.id === id);
  }

  /** @param {number} id */
  nameOf(id) {
    const place = this.items.findIndex((item) => item.data.id === id);
    return place < 0 ? t("a segment of another task") : t("segment {number}", { number: place + 1 });
  }

  /**
   * @param {number} id
   * @param {number} revision
   * @param {any} state
   */
  stale(id, revision, state) {
    const item = this.item(id);
    if (!item) {
      ask(`stale-${id}`, t("A segment of another task was changed elsewhere, too. What you did there is kept in this browser."), this.wayTo(id));
      return;
    }
    item.ask(state, {
      keep: () => this.queue.insist(id, revision),
      take: async () => {
        await this.queue.yieldTo(id, revision);
        this.queue.flush();
      },
    });
    if (item === this.current) item.conflict?.element.scrollIntoView({ block: "nearest" });
  }

  /**
   * Where to decide on a segment of another task.
   * @param {number} id
   */
  wayTo(id) {
    const task = this.queue.changes.find((change) => change.item === id)?.assignment;
    return { [t("Open the task and choose what counts")]: () => location.assign(address(`/work/${task}`)) };
  }

  /** Goes to what waits for the person to decide. */
  showMessage() {
    const notice = document.querySelector(".conflict, #notices > .notice");
    this.turnTo(this.items.find(({ element }) => element.contains(notice)));
    notice?.scrollIntoView({ block: "center" });
    notice?.querySelector("button")?.focus({ preventScroll: true });
  }

  /**
   * @param {number} id
   * @param {string} why
   */
  refused(id, why) {
    ask(`refused-${id}`, t("The server did not take a change of {segment}: {why}. It is still kept in this browser.", { segment: this.nameOf(id), why }), {
      [t("Try again")]: () => this.queue.retry(id),
      ...(this.item(id) ? { [t("Give it up and load what was saved")]: () => this.giveUp(id, why) } : this.wayTo(id)),
    });
  }

  /**
   * What was saved stands on the page; undo brings back what was given up. Where the page shows other texts by
   * now, it is loaded again first, with everything that is kept in this browser.
   * @param {number} id
   * @param {string} why the server refused it
   */
  async giveUp(id, why) {
    const item = /** @type {ItemView} */ (this.item(id));
    const saved = (await this.newest()).find((one) => one.id === id);
    if (!saved) return this.refused(id, t("{why}; and it does not say what was saved", { why }));
    if (saved.hashes.join() !== item.data.hashes.join()) return location.reload();
    item.isDeclared = saved.complete;
    item.settle(item.history.advance(saved.state), () => this.queue.yieldTo(id, saved.revision));
    this.turnTo(item);
    return this.hint(t("What was saved is shown. Undo (Ctrl+Z) brings back what you gave up."));
  }

  // Tabs...

  workElsewhere() {
    this.setInert(true);
    this.queue.flush();
    ask("tab", t("This task is open in another tab, and one at a time can change it."), {
      [t("Work here")]: async () => {
        await this.queue.flush();
        await this.tabs.take();
        location.reload(); // with what was done there
      },
    });
  }

  /** @param {boolean} isInert */
  setInert(isInert) {
    for (const part of ["#items", "#end"]) find(document, part).inert = isInert;
  }

  // Going on...

  /**
   * Makes a segment the current one: keys and time belong to it; nothing on the screen moves.
   * @param {ItemView | undefined} item
   */
  turnTo(item) {
    if (!item || item === this.current) return;
    this.leaveItem();
    this.current?.setCurrent(false);
    this.current = item;
    item.setCurrent(true);
    this.watch.turnTo(item.data.id, now());
  }

  leaveItem() {
    this.watch.touch(now());
    const item = this.current;
    const spent = item && this.watch.spent.get(item.data.id);
    if (item && spent && spent.active >= LEAST) this.send(item, "time", 0);
  }

  /** @param {number} step */
  go(step) {
    const next = this.items[this.items.indexOf(/** @type {ItemView} */ (this.current)) + step];
    if (!next) return this.say(step > 0 ? t("this is the last segment") : t("this is the first segment"));
    this.menu.close();
    this.turnTo(next);
    next.element.scrollIntoView({ block: "nearest" });
    return next.focusText();
  }

  /** @param {ItemView} item */
  finishItem(item) {
    if (this.data.must_declare && !item.isDeclared) {
      item.isDeclared = true;
      this.send(item, "complete", 0);
    }
    item.renderStatus();
    const left = item.lacks();
    if (left.length) {
      this.hintAt(item, left);
      return item.focusControls();
    }
    if (this.items.at(-1) !== item) return this.go(1);
    return this.finish();
  }

  async finish() {
    const open = this.items.find((item) => item.lacks().length);
    if (open) {
      this.hintAt(open, open.lacks());
      this.turnTo(open);
      open.element.scrollIntoView({ block: "nearest" });
      return open.focusControls();
    }
    if (this.queue.held.size) return this.showMessage();
    if (this.isEnding) return;
    this.isEnding = true;
    this.tellTime(0);
    const reply = await this.queue.end(this.data.assignment);
    this.isEnding = false;
    if (!reply) return this.hint(t("Not everything has reached the server yet. What you did is kept; finish when there is a connection."));
    return this.finished(reply.status, reply.body);
  }

  /**
   * @param {number} status
   * @param {any} body
   */
  finished(status, body) {
    if (status === 0) return this.hint(t("There is no connection to the server. What you did is saved; finish again in a moment."));
    if (status === 401) askWayIn(() => this.finish());
    if (status === 409 && body.feedback?.length) return this.showTodo(body.feedback);
    if (status !== 200) return this.hint(body.message ?? t("The server could not finish this task. What you did is saved."));
    if (!body.next) markEnd();
    const goOn = () => (body.next?.frame === this.data.frame ? this.showNext(body.next)
      : location.assign(address(body.next ? `/work/${body.next.assignment}` : "/work")));
    if (!body.feedback.length) return goOn();
    this.showFeedback(body.feedback);
    return ask("feedback", t("This task was a check. What was not found in it stands below the segments."), { [t("Go on")]: goOn });
  }

  /** @param {WorkData} data of a task that takes the place of this one; the page stays */
  async showNext(data) {
    delete document.body.dataset.ready;
    this.setInert(true); // what is still to be seen belongs to the task before
    this.menu.close();
    this.tabs.close();
    CSS.highlights?.forEach((highlight) => highlight.clear());
    this.take(data);
    history.pushState(null, "", address(`/work/${data.assignment}`));
    if (data.number) document.title = find(document, "h1").textContent = t("Task {number}", { number: data.number });
    await this.open(true);
    this.current?.focusText();
    scrollTo(0, 0);
    this.hint("");
    this.say(document.title);
  }

  /** @param {{item: number, ok: boolean, says: string[]}[]} feedback */
  showFeedback(feedback) {
    const said = new Map(feedback.map((one) => [one.item, one]));
    for (const item of this.items) {
      const { says = [], ok = true } = said.get(item.data.id) ?? {};
      find(item.element, ".feedback").replaceChildren(...says.map((text) => make("li", { class: ok ? "right" : "wrong", dir: "auto" }, text)));
    }
  }

  /**
   * What is to be done otherwise, in a tutorial, or what the server misses.
   * @param {{item: number, ok: boolean, says: string[]}[]} feedback
   */
  showTodo(feedback) {
    this.showFeedback(feedback);
    this.hint(t("Not quite yet: see what stands below the segments, change it, and finish again."));
    const first = this.item((feedback.find(({ ok }) => !ok) ?? feedback[0]).item);
    this.turnTo(first);
    first?.element.scrollIntoView({ block: "nearest" });
    first?.focusText();
  }

  // Keys...

  /** @param {KeyboardEvent} event */
  press(event) {
    const { target } = event;
    this.menu.x = null;
    const sheet = this.current?.sheets.find(({ text }) => text === target);
    if (document.querySelector("dialog[open]") || (this.menu.sheet && this.menu.element.contains(/** @type {Node} */ (target)))) return;
    const inText = sheet ? actionOf(event, "text") : null;
    const isDone = sheet && (sheet.seek(event) || (inText && this.current?.actInText(sheet, inText, event.key)) || sheet.move(event));
    if (isDone || this.act(event)) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  act(event) {
    const target = /** @type {Element} */ (event.target);
    const isTyped = takesLetters(target);
    const isHeld = event.ctrlKey || event.metaKey;
    if (isSingleKey(event) && (isTyped || !(usesSingleKeys() || target.closest(".rating")))) return false;
    if (event.key === "Enter" && !isHeld && (isTyped || target.closest("a, button, summary"))) return false; // their own
    if (isTyped && isHeld && event.key !== "Enter") return false; // undo of the field's own
    const action = actionOf(event, "segment") ?? actionOf(event, "task");
    const item = this.current;
    if (!action || !item || find(document, "#items").inert) return false;
    if (action === "verdict" && !item.choices) return false;
    if (action === "done" && event.repeat) return true; // a key that is held down ends one segment
    const acts = {
      missing: () => item.translationHere.cycleNowhere("missing"),
      fault: () => item.translationHere.cycleNowhere("fault"),
      rating: () => item.focusControls(),
      digit: () => item.rate(event),
      verdict: () => item.choices?.choose(event.key.toUpperCase()),
      seek: () => item.seek(event),
      text: () => item.focusText(),
      comment: () => item.openComment(),
      done: () => this.finishItem(item),
      next: () => this.go(1),
      previous: () => this.go(-1),
      undo: () => item.step("undo"),
      redo: () => item.step("redo"),
      guidelines: () => this.showGuidelines(),
      keys: () => showKeys(),
    };
    acts[/** @type {keyof typeof acts} */ (action)]();
    return true;
  }

  showGuidelines() {
    find(document, "#guidelines", HTMLDialogElement).showModal();
  }

  // What the page says...

  /**
   * To who does not see.
   * @param {string} text
   */
  say(text) {
    find(document, "#spoken").textContent = text;
  }

  /**
   * To everyone, beside what is saved.
   * @param {string} text
   */
  hint(text) {
    find(document, "#hint").textContent = text;
  }

  /**
   * @param {ItemView} item
   * @param {string[]} left what is to be done there
   */
  hintAt(item, left) {
    this.hint(t("{segment}: still to do: {what}.", { segment: this.nameOf(item.data.id), what: left.join(", ") }));
  }

  /** Shows what became of the changes, and how far the task is. */
  moved() {
    showSaved(find(document, "#saved"), this.queue);
    const { condition, held } = this.queue;
    find(document, "#show-message").hidden = !held.size && condition !== "signed-out";
    if (condition === "signed-out") askWayIn(() => this.queue.flush());
    if (condition === "saved") withdraw("signed-out");
    const done = this.items.filter((item) => !item.lacks().length).length;
    find(document, "#progress").textContent = t("{done} of {all} done", { done, all: this.items.length });
    find(document, "#squares").replaceChildren(...this.items.map((item) => make("i", { class: item.lacks().length ? "" : "full" })));
  }
}

const data = document.querySelector("#data");
if (data) Store.open().then((store) => new Work(JSON.parse(data.textContent ?? ""), store).start());
for (const button of all(document, "dialog .close", HTMLButtonElement)) {
  button.addEventListener("click", () => button.closest("dialog")?.close());
}

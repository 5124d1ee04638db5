// @ts-check
/* Every change goes into this browser's store first, then to the server, in order, until it is acknowledged.
 * A change that was sent keeps its id and its content, so that sending it again does nothing new.
 */

/** @typedef {import("./api.js").Reply} Reply */
/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {object} Change
 * @property {string} id
 * @property {string} person
 * @property {string} page the page that made it
 * @property {number} order rises with every change
 * @property {number} assignment
 * @property {number} item
 * @property {number} base revision that it follows
 * @property {string} kind
 * @property {number} at seconds since 1970
 * @property {object} state of the item, whole
 * @property {string[]} hashes of the texts that were shown
 * @property {number} active seconds
 * @property {number} idle seconds
 */
/** @typedef {"saved" | "saving" | "waiting" | "signed-out"} Condition */
/**
 * @typedef {object} Listener
 * @property {() => void} moved something was added, sent or acknowledged
 * @property {(item: number, isComplete: boolean) => void} saved
 * @property {(item: number, revision: number, state: any) => void} stale someone else changed it
 * @property {(item: number, why: string) => void} refused
 */

const BATCH = 20;
const PAUSES = [1, 2, 4, 8, 15]; // seconds between attempts
const TIME = "time"; // a change that makes no revision
const TYPED = new Set(["rate", "comment", "edit"]); // one step grows until it is sent

/** A random id, also where the page is not served over https. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Queue {
  /**
   * @param {object} options
   * @param {Store | null} options.store
   * @param {(path: string, body: object) => Promise<Reply>} options.post
   * @param {string} options.person
   * @param {string} options.page
   * @param {Listener} options.listener
   */
  constructor({ store, post, person, page, listener }) {
    this.store = store;
    this.post = post;
    this.person = person;
    this.page = page;
    this.listener = listener;
    this.language = document.documentElement.lang;
    /** @type {Change[]} */
    this.changes = [];
    /** @type {Map<number, number>} */
    this.revisions = new Map();
    /** @type {Set<string>} */
    this.sent = new Set();
    /** @type {Set<number>} items that wait for the person to decide */
    this.held = new Set();
    /** @type {Condition} */
    this.condition = "saved";
    this.failures = 0;
    this.last = 0;
    /** How many changes are on their way to this browser's store. */
    this.keeping = 0;
    /** @type {Promise<void> | null} */
    this.flushing = null;
    this.timer = 0;
  }

  /**
   * Takes over what pages left behind that are gone: closed, reloaded or crashed.
   * @param {number | null} [mine] a task that no other page changes any more: what is left of it is taken from all pages
   */
  async adopt(mine = null) {
    const open = await openPages();
    const left = await this.store?.changes(this.person) ?? [];
    const own = new Set(this.changes.map(({ id }) => id));
    this.changes.push(...left.filter((change) => !own.has(change.id) && (change.assignment === mine || !open.has(change.page))));
    this.last = Math.max(this.last, ...left.map((change) => change.order));
    for (const { id } of this.changes) this.sent.add(id);
  }

  /**
   * The state that an item has here and not yet on the server.
   * @param {number} assignment
   * @param {number} item
   */
  unsaved(assignment, item) {
    return this.changes.findLast((change) => change.assignment === assignment && change.item === item && change.kind !== TIME)?.state ?? null;
  }

  /** How many changes the server has not acknowledged. */
  get waiting() {
    return this.changes.length;
  }

  /** Whether all of these would be there if the page went away now. */
  get isKept() {
    return this.store !== null && !this.keeping;
  }

  /**
   * Adds a change and begins to send it. Typing goes on within one change until that is sent.
   * @param {Omit<Change, "id" | "person" | "page" | "order" | "base">} made
   * @param {number} [delay] milliseconds
   */
  async add(made, delay = 0) {
    const last = this.changes.findLast((change) => change.item === made.item);
    const grows = last && last.kind === made.kind && TYPED.has(made.kind) && !this.sent.has(last.id);
    const change = grows
      ? Object.assign(last, made, { active: last.active + made.active, idle: last.idle + made.idle })
      : this.append(made);
    this.condition = this.condition === "saved" ? "saving" : this.condition;
    await this.keep({ ...change });
    this.flushSoon(delay);
  }

  /**
   * Puts a change into this browser's store; the page calls it kept once it is there.
   * @param {Change} change
   */
  async keep(change) {
    this.keeping += 1;
    this.listener.moved();
    try {
      await this.store?.keep(change);
    } catch {
      this.store = null; // from now on nothing is kept here, and the page says so
    }
    this.keeping -= 1;
    this.listener.moved();
  }

  /** @param {Omit<Change, "id" | "person" | "page" | "order" | "base">} made */
  append(made) {
    this.last = Math.max(this.last + 1, Math.round(made.at * 1000));
    const before = this.changes.findLast((change) => change.item === made.item);
    const base = before ? before.base + (before.kind === TIME ? 0 : 1) : this.revisions.get(made.item) ?? 0;
    const change = { ...made, id: newId(), person: this.person, page: this.page, order: this.last, base };
    this.changes.push(change);
    return change;
  }

  /** @param {number} delay milliseconds */
  flushSoon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), delay);
  }

  /** Sends all that waits; resolves when nothing more can be sent now. */
  flush() {
    clearTimeout(this.timer);
    this.flushing ??= this.sendAll().finally(() => {
      this.flushing = null;
      this.listener.moved();
    });
    return this.flushing;
  }

  async sendAll() {
    for (let batch = this.nextBatch(); batch.length; batch = this.nextBatch()) {
      this.condition = "saving";
      this.listener.moved();
      if (!await this.send(batch)) return;
    }
    this.condition = this.waiting ? "waiting" : "saved";
  }

  /** The next changes of one task and one page. */
  nextBatch() {
    const ready = this.changes.filter((change) => !this.held.has(change.item)).slice(0, BATCH);
    const other = ready.findIndex((change) => change.page !== ready[0].page || change.assignment !== ready[0].assignment);
    return other < 0 ? ready : ready.slice(0, other);
  }

  /**
   * @param {Change[]} batch
   * @returns {Promise<boolean>} whether the next may follow
   */
  async send(batch) {
    const [{ assignment, page }] = batch;
    const { status, body } = await this.post("/api/events", { assignment, page, language: this.language, events: this.pack(batch) });
    if (body.saved?.length) await this.acknowledge(body.saved);
    if (status === 200) return body.saved?.length > 0 || this.wait("waiting");
    if (status === 409 && body.stale) return this.conflict(body.stale);
    if ([400, 403, 404, 409, 413, 415, 422].includes(status)) return this.refuse(batch, body);
    return this.wait(status === 401 ? "signed-out" : "waiting");
  }

  /**
   * Ends a task: its last changes go along. What the answer leaves is sent as ever, and says why it could not be.
   * @param {number} assignment
   * @returns {Promise<Reply | null>} null where not all is saved
   */
  async end(assignment) {
    await this.flushing;
    const isLast = this.changes.length <= BATCH && this.changes.every((change) => change.assignment === assignment && change.page === this.page && !this.held.has(change.item));
    if (!isLast) await this.flush();
    if (!isLast && this.waiting) return null;
    const sending = this.post(`/api/work/${assignment}/done`, { page: this.page, language: this.language, events: this.pack(this.changes) });
    this.flushing = sending.then(({ body }) => this.acknowledge(body.saved ?? [])).finally(() => { this.flushing = null; });
    await this.flushing;
    await this.flush();
    return this.waiting ? null : sending;
  }

  /**
   * Changes as the server takes them; from now on they stay as they are.
   * @param {Change[]} batch
   */
  pack(batch) {
    for (const { id } of batch) this.sent.add(id);
    return batch.map(({ person: _p, page: _q, order: _o, assignment: _a, ...event }) => event);
  }

  /** @param {{id: string, item: number, revision: number, complete: boolean}[]} saved */
  async acknowledge(saved) {
    this.failures = 0;
    const ids = saved.map(({ id }) => id);
    this.changes = this.changes.filter((change) => !ids.includes(change.id));
    for (const { item, revision, complete } of saved) {
      this.revisions.set(item, Math.max(revision, this.revisions.get(item) ?? 0));
      this.listener.saved(item, complete);
    }
    await this.forget(ids);
  }

  /** @param {{item: number, revision: number, state: object}[]} stale */
  conflict(stale) {
    for (const { item, revision, state } of stale) {
      this.held.add(item);
      this.listener.stale(item, revision, state);
    }
    return true;
  }

  /**
   * A change that a later one has overtaken is not missed, since each holds the whole state; others wait.
   * @param {Change[]} batch
   * @param {{message?: string, saved?: {id: string}[], refused?: {item: number, why: string}[]}} body
   */
  async refuse(batch, body) {
    const saved = new Set(body.saved?.map(({ id }) => id));
    const refused = body.refused?.length ? body.refused : batch.map(({ item }) => ({ item, why: body.message ?? "it does not say why" }));
    for (const [item, why] of new Map(refused.map((one) => [one.item, one.why]))) {
      const own = batch.filter((change) => change.item === item);
      await this.forget(own.slice(0, own.findLastIndex(({ id }) => saved.has(id)) + 1).map(({ id }) => id));
      if (!this.changes.some((change) => change.item === item)) continue;
      this.held.add(item);
      this.listener.refused(item, why);
    }
    return true;
  }

  /** @param {string[]} ids */
  async forget(ids) {
    this.changes = this.changes.filter((change) => !ids.includes(change.id));
    await this.store?.forget(ids).catch(() => {});
  }

  /** @param {Condition} condition */
  wait(condition) {
    this.condition = condition;
    const seconds = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.failures += 1;
    this.flushSoon(seconds * 1000);
    return false;
  }

  /**
   * Gives up what is unsaved of an item, in favour of what the server has.
   * @param {number} item
   * @param {number} revision of the server's state
   */
  async yieldTo(item, revision) {
    const own = this.changes.filter((change) => change.item === item).map(({ id }) => id);
    this.revisions.set(item, revision);
    this.held.delete(item);
    await this.forget(own);
    this.listener.moved();
  }

  /**
   * Puts what is unsaved of an item on top of what the server has.
   * @param {number} item
   * @param {number} revision of the server's state
   */
  async insist(item, revision) {
    const own = this.changes.filter((change) => change.item === item);
    const { assignment, at, state, hashes } = own[own.length - 1];
    await this.yieldTo(item, revision);
    const spent = { active: sum(own, "active"), idle: sum(own, "idle") };
    await this.add({ assignment, item, kind: "restore", at, state, hashes, ...spent });
  }

  /**
   * Tries a refused item again, as when the connection was another one.
   * @param {number} item
   */
  retry(item) {
    this.held.delete(item);
    return this.flush();
  }
}

/**
 * @param {Change[]} changes
 * @param {"active" | "idle"} name
 */
const sum = (changes, name) => changes.reduce((all, change) => all + change[name], 0);

/**
 * Says as long as this page lives that it does.
 * @param {string} page
 */
export function hold(page) {
  navigator.locks?.request(`adjudge-page-${page}`, () => new Promise(() => {}));
}

/** Pages of this browser that are open. */
async function openPages() {
  const locks = (await navigator.locks?.query())?.held ?? [];
  return new Set(locks.map(({ name }) => name?.replace("adjudge-page-", "")));
}

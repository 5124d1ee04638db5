// @ts-check
/* Undo and redo over whole states. Pure: every step makes a new history. */

/** @template T */
export class History {
  /**
   * @param {T} present
   * @param {T[]} past
   * @param {T[]} future what was undone, the last first
   */
  constructor(present, past = [], future = []) {
    this.present = present;
    this.past = past;
    this.future = future;
  }

  /**
   * Goes on to a new state. What `replaces` the present, as a longer comment does, is one step with it.
   * @param {T} state
   * @param {boolean} replaces
   */
  advance(state, replaces = false) {
    return new History(state, replaces ? this.past : [...this.past, this.present]);
  }

  undo() {
    const last = this.past.at(-1);
    return last === undefined ? this : new History(last, this.past.slice(0, -1), [this.present, ...this.future]);
  }

  redo() {
    const [next, ...future] = this.future;
    return next === undefined ? this : new History(next, [...this.past, this.present], future);
  }
}

// @ts-check
/* How long an item is worked on: time between inputs on a page that is seen. Longer pauses are idle, and
 * counted apart. Pure: every function is told the time, in seconds.
 */

/** @typedef {{active: number, idle: number}} Spent seconds */

export class Stopwatch {
  /**
   * @param {number} idleAfter a longer pause than so many seconds is idle
   * @param {number} now
   */
  constructor(idleAfter, now) {
    this.idleAfter = idleAfter;
    this.last = now;
    this.isSeen = true;
    /** @type {Map<number, Spent>} */
    this.spent = new Map();
    /** @type {number | null} */
    this.item = null;
  }

  /**
   * An input: the time since the last one belongs to the item that was worked on.
   * @param {number} now
   */
  touch(now) {
    const pause = Math.max(0, now - this.last);
    this.last = Math.max(now, this.last);
    if (this.item === null) return;
    const spent = this.spent.get(this.item) ?? { active: 0, idle: 0 };
    spent[this.isSeen && pause <= this.idleAfter ? "active" : "idle"] += pause;
    this.spent.set(this.item, spent);
  }

  /**
   * Another item is worked on from now on.
   * @param {number} item
   * @param {number} now
   */
  turnTo(item, now) {
    this.touch(now);
    this.item = item;
  }

  /**
   * The page is seen from now on, or not.
   * @param {boolean} isSeen
   * @param {number} now
   */
  show(isSeen, now) {
    this.touch(now);
    this.isSeen = isSeen;
  }

  /**
   * The time spent on an item since it was last taken.
   * @param {number} item
   * @returns {Spent}
   */
  take(item) {
    const { active, idle } = this.spent.get(item) ?? { active: 0, idle: 0 };
    this.spent.delete(item);
    return { active: round(active), idle: round(idle) };
  }
}

/** @param {number} seconds */
const round = (seconds) => Math.round(seconds * 1000) / 1000;

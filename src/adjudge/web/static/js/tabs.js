// @ts-check
/* One task is worked on in one tab; another one says so, and can take it over. */

/**
 * @typedef {object} TabListener
 * @property {() => void} elsewhere another tab works on it
 * @property {() => void} here this tab works on it
 */

export class Tabs {
  /**
   * @param {string} task
   * @param {TabListener} listener
   */
  constructor(task, listener) {
    this.name = `adjudge-task-${task}`;
    this.listener = listener;
  }

  /** Begins to work here, unless another tab does. */
  open() {
    if (!navigator.locks) return this.listener.here();
    this.request({ ifAvailable: true }, this.listener.here);
    return undefined;
  }

  /**
   * Has the other tab stop; resolves once it has.
   * @returns {Promise<void>}
   */
  take() {
    return new Promise((taken) => this.request({ steal: true }, taken));
  }

  /**
   * @param {LockOptions} options
   * @param {() => void} taken
   */
  request(options, taken) {
    const held = navigator.locks.request(this.name, options, (lock) => {
      if (!lock) return this.listener.elsewhere();
      taken();
      return new Promise(() => {}); // until the page goes, or another one takes it
    });
    held.catch(() => this.listener.elsewhere());
  }
}

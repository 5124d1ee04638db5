// @ts-check
/* One task is worked on in one tab; another one says so, and can take it over. */

const LEAVING = 500; // milliseconds that a page may hold its task after it was left

export class Tabs {
  /**
   * @param {number} task
   * @param {() => void} elsewhere called when another tab works on it
   */
  constructor(task, elsewhere) {
    this.name = `adjudge-task-${task}`;
    this.elsewhere = elsewhere;
    /** Ends the work here: the page goes on to another task. */
    this.close = () => {};
  }

  /**
   * Begins to work here, unless another tab does.
   * @returns {Promise<boolean>} whether it works here
   */
  async open() {
    if (!navigator.locks) return true;
    const signal = AbortSignal.timeout(LEAVING);
    return new Promise((found) => {
      this.request({ signal }, () => found(true));
      signal.addEventListener("abort", () => found(false));
    });
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
    const held = navigator.locks.request(this.name, options, () => {
      taken();
      return new Promise((done) => { this.close = () => done(null); }); // else until the page goes, or another one takes it
    });
    held.catch(() => this.elsewhere());
  }
}

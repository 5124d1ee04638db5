// @ts-check
/* What this browser keeps of the changes that the server has not acknowledged: one object store of IndexedDB. */

import { openDB } from "../vendor/idb.js";

/** @typedef {import("./queue.js").Change} Change */

const CHANGES = "changes";

export class Store {
  /** @param {any} database of idb */
  constructor(database) {
    this.database = database;
  }

  /** @returns {Promise<Store | null>} null where the browser keeps nothing */
  static async open() {
    try {
      return new Store(await openDB("adjudge", 1, { upgrade: (database) => database.createObjectStore(CHANGES, { keyPath: "id" }) }));
    } catch {
      return null;
    }
  }

  /**
   * @param {string} person
   * @returns {Promise<Change[]>} in the order in which they were made
   */
  async changes(person) {
    /** @type {Change[]} */
    const found = await this.database.getAll(CHANGES);
    return found.filter((change) => change.person === person).sort((a, b) => a.order - b.order);
  }

  /** @param {Change} change */
  async keep(change) {
    await this.write((changes) => [changes.put(change)]);
  }

  /** @param {string[]} ids */
  async forget(ids) {
    await this.write((changes) => ids.map((id) => changes.delete(id)));
  }

  /**
   * Done once it is on the disk, not before.
   * @param {(changes: any) => Promise<void>[]} act
   */
  async write(act) {
    const transaction = this.database.transaction(CHANGES, "readwrite", { durability: "strict" });
    await Promise.all([...act(transaction.store), transaction.done]);
  }
}

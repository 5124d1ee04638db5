// @ts-check
/* What this browser keeps of the changes that the server has not acknowledged: one object store of IndexedDB. */

/** @typedef {import("./queue.js").Change} Change */

const CHANGES = "changes";

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  const request = indexedDB.open("adjudge", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(CHANGES, { keyPath: "id" });
  return settled(request);
}

export class Store {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  /** @returns {Promise<Store | null>} null where the browser keeps nothing */
  static async open() {
    try {
      return new Store(await openDatabase());
    } catch {
      return null;
    }
  }

  /**
   * @param {string} person
   * @returns {Promise<Change[]>} in the order in which they were made
   */
  async changes(person) {
    const found = await settled(this.database.transaction(CHANGES).objectStore(CHANGES).getAll());
    return found.filter((change) => change.person === person).sort((a, b) => a.order - b.order);
  }

  /** @param {Change} change */
  async keep(change) {
    await this.write((changes) => changes.put(change));
  }

  /** @param {string[]} ids */
  async forget(ids) {
    await this.write((changes) => ids.forEach((id) => changes.delete(id)));
  }

  /**
   * Done once it is on the disk, not before.
   * @param {(changes: IDBObjectStore) => void} act
   * @returns {Promise<void>}
   */
  write(act) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(CHANGES, "readwrite", { durability: "strict" });
      transaction.oncomplete = () => resolve();
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
      act(transaction.objectStore(CHANGES));
    });
  }
}

// Records of IndexedDB. A database is opened as it is: its version is not changed, and none is made.
import { ToolError } from '@tabrelay/plugin-sdk';
import { isSecretName, isSecretText, masked, redact } from './redact.ts';

/** A store of a database. */
export interface Place {
  database: string;
  store: string;
}

const mostText = 500; // characters of a text in a list
const deepest = 12;
const mostMembers = 200;

const promised = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failed(request.error));
  });

const failed = (why: DOMException | null) =>
  new ToolError(`The database refuses: ${why?.message ?? 'no reason given'}`, 'DATABASE_ERROR', {
    category: 'validation',
    outcome: 'not_executed',
  });

const invalid = (message: string) =>
  new ToolError(message, 'VALIDATION_ERROR', { category: 'validation', outcome: 'not_executed' });

const missing = (what: string) =>
  new ToolError(`There is no ${what}`, 'NOT_FOUND', { category: 'not_found', outcome: 'not_executed' });

async function open(name: string): Promise<IDBDatabase> {
  const known = await indexedDB.databases();
  if (!known.some((one) => one.name === name)) throw missing(`database ${JSON.stringify(name)}`);
  return promised(indexedDB.open(name));
}

async function inStore<T>(
  { database, store }: Place,
  mode: IDBTransactionMode,
  work: (objects: IDBObjectStore) => Promise<T>,
): Promise<T> {
  const opened = await open(database);
  try {
    if (!opened.objectStoreNames.contains(store)) throw missing(`store ${JSON.stringify(store)}`);
    const transaction = opened.transaction(store, mode);
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(failed(transaction.error));
    });
    const result = await work(transaction.objectStore(store));
    await done;
    return result;
  } finally {
    opened.close();
  }
}

/** The databases of the site, with how much is in their stores. */
export async function databases(): Promise<unknown[]> {
  const all = await indexedDB.databases();
  return Promise.all(
    all.slice(0, 50).map(async ({ name = '', version }) => {
      const opened = await promised(indexedDB.open(name));
      try {
        const names = Array.from(opened.objectStoreNames).slice(0, 100);
        if (names.length === 0) return { name, version, stores: [] };
        const transaction = opened.transaction(names);
        const stores = await Promise.all(
          names.map(async (store) => ({
            store,
            records: await promised(transaction.objectStore(store).count()),
          })),
        );
        return { name, version, stores };
      } finally {
        opened.close();
      }
    }),
  );
}

// A key is a text unless it reads as another kind of key.
function keyOf(text: string): IDBValidKey {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'number') return value;
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number'))
      return value;
  } catch {
    // a text
  }
  return text;
}

// In a list texts are cut and secrets are masked; a record that was asked for by its key is told whole.
function shown(value: unknown, whole: boolean, name = '', depth = 0): unknown {
  if (typeof value === 'string') {
    if (!whole && (isSecretName(name) || isSecretText(value))) return masked(value);
    if (whole) return value;
    const told = redact(value);
    return told.length <= mostText ? told : `${told.slice(0, mostText)}…`;
  }
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return !whole && isSecretName(name) ? '••••' : value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Blob) return `[${value.type || 'blob'}, ${value.size} bytes]`;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= deepest) return '…';
  if (value instanceof Map) return shown([...value], whole, name, depth + 1);
  if (value instanceof Set) return shown([...value], whole, name, depth + 1);
  if (Array.isArray(value))
    return value
      .slice(0, whole ? value.length : mostMembers)
      .map((one) => shown(one, whole, name, depth + 1));
  const members = Object.entries(value).slice(0, whole ? undefined : mostMembers);
  return Object.fromEntries(
    members.map(([key, one]: [string, unknown]) => [key, shown(one, whole, key, depth + 1)]),
  );
}

/** Records of a store, or the one with a key. */
export function databaseRecords(at: Place, limit: number, key?: string): Promise<Record<string, unknown>> {
  return inStore(at, 'readonly', async (objects) => {
    if (key !== undefined) {
      const value: unknown = await promised(objects.get(keyOf(key)));
      if (value === undefined) throw missing(`record ${JSON.stringify(key)}`);
      return { ...at, key: keyOf(key), value: shown(value, true) };
    }
    const [keys, values, total] = await Promise.all([
      promised(objects.getAllKeys(null, limit)),
      promised(objects.getAll(null, limit)),
      promised(objects.count()),
    ]);
    const records = values.map((value: unknown, i) => ({
      key: shown(keys[i], false),
      value: shown(value, false),
    }));
    return { ...at, records, total };
  });
}

export function deleteRecord(at: Place, key: string): Promise<Record<string, unknown>> {
  return inStore(at, 'readwrite', async (objects) => {
    if ((await promised(objects.count(keyOf(key)))) === 0) throw missing(`record ${JSON.stringify(key)}`);
    await promised(objects.delete(keyOf(key)));
    return { ...at, key, removed: true };
  });
}

export async function putRecord(at: Place, key: string, text: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('value is not JSON');
  }
  return inStore(at, 'readwrite', async (objects) => {
    const wanted = keyOf(key);
    if (objects.keyPath === null) await promised(objects.put(value, wanted));
    else {
      const own = keyIn(value, objects.keyPath);
      if (!isSameKey(own, wanted)) {
        const where = [objects.keyPath].flat().join(', ');
        const what = own === undefined ? 'has no key' : `has the key ${JSON.stringify(own)}`;
        throw invalid(`The records of this store carry their key at ${where}: value ${what} there`);
      }
      await promised(objects.put(value));
    }
    return { ...at, key, set: true };
  });
}

/** What a value has where a store keeps its keys; undefined: nothing, or not all of it. */
function keyIn(value: unknown, keyPath: string | string[]): unknown {
  if (Array.isArray(keyPath)) {
    const parts = keyPath.map((one) => keyIn(value, one));
    return parts.includes(undefined) ? undefined : parts;
  }
  if (keyPath === '') return value;
  let at = value;
  for (const name of keyPath.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Reflect.get(at, name);
  }
  return at;
}

function isSameKey(own: unknown, wanted: IDBValidKey): boolean {
  try {
    return indexedDB.cmp(own, wanted) === 0;
  } catch {
    return false; // it is no key
  }
}

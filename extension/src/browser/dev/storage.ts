// What the page's site keeps in this browser: local and session storage, and databases.
import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { databaseRecords, databases, deleteRecord, putRecord } from './databases.ts';
import { isSecretName, isSecretText, masked, redact } from './redact.ts';

const mostOfValue = 500; // characters in a list
const mostItems = 500;

function areaOf(name: string): Storage {
  try {
    return name === 'session' ? sessionStorage : localStorage;
  } catch {
    throw new ToolError(
      'The page has no storage: its origin is opaque, or the person has blocked it',
      'NOT_FOUND',
      {
        category: 'not_found',
        outcome: 'not_executed',
      },
    );
  }
}

/** A value in a list: the beginning, or its size alone where it reads like a secret. */
function listed(key: string, value: string): Record<string, unknown> {
  if (isSecretName(key) || isSecretText(value)) return { key, value: masked(value), secret: true };
  const told = redact(value);
  if (told.length <= mostOfValue) return { key, value: told };
  return { key, value: `${told.slice(0, mostOfValue)}…`, characters: value.length };
}

function list(area: Storage, contains: string): Record<string, unknown> {
  const keys = Array.from({ length: area.length }, (_, i) => area.key(i) ?? '')
    .filter((key) => key.toLowerCase().includes(contains.toLowerCase()))
    .sort();
  return {
    origin: location.origin,
    items: keys.slice(0, mostItems).map((key) => listed(key, area.getItem(key) ?? '')),
    total: keys.length,
  };
}

const missing = (what: string) =>
  new ToolError(`There is no ${what}`, 'NOT_FOUND', { category: 'not_found', outcome: 'not_executed' });

const needs = (action: string, what: string) => ToolError.validation(`${action} needs ${what}`);

interface Request {
  action: 'list' | 'get' | 'set' | 'remove';
  area: string;
  key?: string | undefined;
  value?: string | undefined;
  contains?: string | undefined;
}

function inArea({ action, area: name, key, value, contains = '' }: Request): unknown {
  const area = areaOf(name);
  if (action === 'list') return list(area, contains);
  if (key === undefined) throw needs(action, 'key');
  const before = area.getItem(key);
  if (action === 'set') {
    if (value === undefined) throw needs(action, 'value');
    try {
      area.setItem(key, value);
    } catch {
      throw new ToolError('The storage of this site is full', 'STORAGE_FULL', { outcome: 'not_executed' });
    }
    return { key, set: true, before: before === null ? 'none' : `${before.length} characters` };
  }
  if (before === null) throw missing(`item ${JSON.stringify(key)} in the ${name} storage`);
  if (action === 'get') return { key, value: before };
  area.removeItem(key);
  return { key, removed: true };
}

export const storage = defineTool({
  name: 'storage',
  displayName: 'Look into the storage',
  description:
    'Local and session storage of the page, and its IndexedDB databases. A list masks what reads like a secret; get ' +
    'tells what was asked for by name.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    action: s.choice(['list', 'get', 'set', 'remove']),
    area: s.optional(s.choice(['local', 'session', 'indexedDB'], 'Default local.')),
    key: s.optional(s.string('In IndexedDB: JSON, where it is not text.')),
    value: s.optional(s.string('In IndexedDB: JSON.')),
    contains: s.optional(s.string('Only keys with this.')),
    database: s.optional(s.string()),
    store: s.optional(s.string()),
    limit: s.optional(s.integer('Records. Default 20.', { minimum: 1, maximum: 500 })),
    frame: s.optional(s.string('Reference of the frame, or any in it, such as f1e1.')),
  }),
  async handle({ action, area = 'local', key, value, contains, database, store, limit = 20 }) {
    if (area !== 'indexedDB') return inArea({ action, area, key, value, contains });
    if (action === 'list' && database === undefined) return { databases: await databases() };
    if (database === undefined || store === undefined) throw needs(action, 'database and store');
    const at = { database, store };
    if (action === 'list') return databaseRecords(at, limit);
    if (key === undefined) throw needs(action, 'key');
    if (action === 'get') return databaseRecords(at, 1, key);
    if (action === 'remove') return deleteRecord(at, key);
    if (value === undefined) throw needs(action, 'value');
    return putRecord(at, key, value);
  },
});

import {
  clearAuthCache,
  defineTool,
  findLocalStorageEntry,
  getAuthCache,
  getCookie,
  getLocalStorage,
  getSessionStorage,
  removeLocalStorage,
  removeSessionStorage,
  setAuthCache,
  setLocalStorage,
  setSessionStorage,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const found = z.object({ value: z.string().nullable(), after: z.string().nullable() });

const localEntry = defineTool({
  name: 'local_entry',
  description: 'Writes, reads and removes an entry of localStorage',
  input: z.object({}),
  output: found,
  async handle() {
    setLocalStorage('draft', 'kept');
    const value = getLocalStorage('draft');
    removeLocalStorage('draft');
    return { value, after: getLocalStorage('draft') };
  },
});

const sessionEntry = defineTool({
  name: 'session_entry',
  description: 'Writes, reads and removes an entry of sessionStorage',
  input: z.object({}),
  output: found,
  async handle() {
    setSessionStorage('draft', 'kept');
    const value = getSessionStorage('draft');
    removeSessionStorage('draft');
    return { value, after: getSessionStorage('draft') };
  },
});

const findEntry = defineTool({
  name: 'find_entry',
  description: 'Finds an entry of localStorage by the beginning of its key',
  input: z.object({ prefix: z.string() }),
  output: z.object({ entry: z.unknown() }),
  handle: async ({ prefix }) => ({ entry: findLocalStorageEntry((key) => key.startsWith(prefix)) }),
});

const readCookie = defineTool({
  name: 'read_cookie',
  description: 'A cookie of the page',
  input: z.object({ name: z.string() }),
  output: z.object({ value: z.string().nullable() }),
  handle: async ({ name }) => ({ value: getCookie(name) }),
});

const cacheToken = defineTool({
  name: 'cache_token',
  description: 'Keeps a token and forgets it',
  input: z.object({}),
  output: z.object({ kept: z.unknown(), after: z.unknown() }),
  async handle() {
    setAuthCache('notes', { token: 't' });
    const kept = getAuthCache('notes');
    clearAuthCache('notes');
    return { kept, after: getAuthCache('notes') };
  },
});

export const storageTools = [localEntry, sessionEntry, findEntry, readCookie, cacheToken];

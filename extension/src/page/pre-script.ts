// What a plugin's pre-script kept. The file that runs the pre-script leaves it on a global of the plugin's own, and the
// adapter's file, which follows before any script of the page can run, takes it away.
import { isCallable } from './hooks.ts';
import { call, deleteProperty, property } from './primordials.ts';

/** The name of that global; relay/plugin/prescript.go writes the same. */
const globalOf = (name: string, hash: string): string => `tabrelayPreScript:${name}:${hash}`;

/** How to read what the pre-script of this plugin keeps; undefined when it did not run in this document. */
export function takePreScript(name: string, hash: string): { get(key: string): unknown } | undefined {
  const read: unknown = property(globalThis, globalOf(name, hash));
  if (!isCallable(read)) return undefined;
  deleteProperty(globalThis, globalOf(name, hash));
  return { get: (key) => call(read, undefined, [key]) };
}

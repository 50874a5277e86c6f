// Converts the settings of a plugin to the contents of form fields, and back to JSON. The relay checks them.
import { isFlag, isNumber, isRecord, isText } from '../shared/guards.ts';
import type { Setting } from './answers.generated.ts';

/** One installation of a web application. */
export interface Installation {
  key: number; // of the row in the list, stable while its name is edited
  name: string;
  address: string;
}

/** The content of a field. */
export type Draft =
  | { kind: 'text'; text: string }
  | { kind: 'flag'; on: boolean }
  | { kind: 'several'; list: readonly Installation[] }
  | { kind: 'removed' }; // a secret that is to be deleted

/** The types that have a field in the form. */
export const formTypes = ['url', 'string', 'number', 'boolean', 'select'];

const textOf = (value: unknown): string =>
  isText(value) ? value : isNumber(value) ? String(value) : value === undefined ? '' : JSON.stringify(value);

/** The content of a field before it is edited: the stored value, or the default of a flag. */
export function draftOf({ type, value, default: usual }: Setting): Draft {
  if (type === 'boolean') return { kind: 'flag', on: (isFlag(value) ? value : usual) === true };
  if (type !== 'url' || !isRecord(value)) return { kind: 'text', text: textOf(value) };
  const list = Object.entries(value).map(([name, address], key) => ({ key, name, address: textOf(address) }));
  return { kind: 'several', list };
}

/** The default of a setting as text; empty when there is none. */
export const defaultText = ({ default: usual }: Setting): string => textOf(usual ?? undefined);

/** Parses a number, with a comma or a point. Other text is returned as it is, for the relay to refuse. */
function numberOf(text: string): number | string {
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : text;
}

/** The JSON value of a field; null deletes the stored one. */
export function jsonOf({ type }: Setting, draft: Draft): unknown {
  switch (draft.kind) {
    case 'removed':
      return null;
    case 'flag':
      return draft.on;
    case 'several': {
      const given = draft.list.filter(({ name, address }) => name.trim() !== '' || address.trim() !== '');
      if (given.length === 0) return null;
      return Object.fromEntries(given.map(({ name, address }) => [name.trim(), address.trim()]));
    }
    default: {
      const text = type === 'string' ? draft.text : draft.text.trim();
      if (text === '') return null;
      return type === 'number' ? numberOf(text) : text;
    }
  }
}

/** Checks the names of installations, by which agents choose one. Returns what is wrong, if anything. */
export function nameProblem(draft: Draft): string | undefined {
  if (draft.kind !== 'several') return undefined;
  const names = draft.list
    .filter(({ name, address }) => name.trim() !== '' || address.trim() !== '')
    .map(({ name }) => name.trim());
  if (names.includes('')) return 'each installation needs a name';
  if (new Set(names).size < names.length) return 'two installations have the same name';
  return undefined;
}

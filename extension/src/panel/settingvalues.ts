// The settings of a plugin as a form holds them: texts, flags, and addresses by name. What a field says becomes JSON
// here; whether it can be used is for the relay to say.
import { isFlag, isNumber, isRecord, isText } from '../shared/guards.ts';
import type { Setting } from './answers.generated.ts';

/** One installation of a web application. */
export interface Installation {
  key: number; // so that a row stays the same one while it is written
  name: string;
  address: string;
}

/** What is in a field now. */
export type Draft =
  | { kind: 'text'; text: string }
  | { kind: 'flag'; on: boolean }
  | { kind: 'several'; list: readonly Installation[] }
  | { kind: 'removed' }; // a secret that is taken back

export const known = ['url', 'string', 'number', 'boolean', 'select'];

const textOf = (value: unknown): string =>
  isText(value) ? value : isNumber(value) ? String(value) : value === undefined ? '' : JSON.stringify(value);

/** What a field shows of what is stored. */
export function stored({ type, value, default: usual }: Setting): Draft {
  if (type === 'boolean') return { kind: 'flag', on: (isFlag(value) ? value : usual) === true };
  if (type !== 'url' || !isRecord(value)) return { kind: 'text', text: textOf(value) };
  const list = Object.entries(value).map(([name, address], key) => ({ key, name, address: textOf(address) }));
  return { kind: 'several', list };
}

/** The default of a setting in words; empty when there is none. */
export const usually = ({ default: usual }: Setting): string => textOf(usual ?? undefined);

/** A number as JSON has it; what is none is sent as it is written, and the relay says so. */
function numberOf(text: string): number | string {
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : text;
}

/** What is sent for a field; null takes back what was set. */
export function sent({ type }: Setting, draft: Draft): unknown {
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

/** What is wrong with a list of installations before anybody is asked: names are what agents choose by. */
export function wrongNames(draft: Draft): string | undefined {
  if (draft.kind !== 'several') return undefined;
  const names = draft.list
    .filter(({ name, address }) => name.trim() !== '' || address.trim() !== '')
    .map(({ name }) => name.trim());
  if (names.includes('')) return 'each installation needs a name';
  if (new Set(names).size < names.length) return 'two installations have the same name';
  return undefined;
}

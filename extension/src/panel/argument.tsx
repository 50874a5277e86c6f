// What a call is made with, so that a person can read it: every argument by its name, texts as texts.
import { isRecord } from '../page/guards.ts';
import { plural, visible } from './words.ts';

const shownCharacters = 300;
const shownArguments = 30;

const written = (value: unknown): string =>
  visible(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'nothing'));

function Value({ value }: { value: unknown }) {
  const text = written(value);
  if (text === '') return <span class="quiet">(empty)</span>;
  if (text.length <= shownCharacters) return <span class="value">{text}</span>;
  return (
    <>
      <span class="value">{text.slice(0, shownCharacters)}…</span>
      <details class="more">
        <summary>All {plural(text.length, 'character')}</summary>
        <div class="value">{text}</div>
      </details>
    </>
  );
}

function Values({ entries }: { entries: readonly [string, unknown][] }) {
  return (
    <dl class="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The arguments of a call; nothing without any. */
export function Arguments({ value }: { value: unknown }) {
  const entries = isRecord(value) ? Object.entries(value) : value == null ? [] : [['value', value] as const];
  const list = entries.map(([name, one]): [string, unknown] => [name, one]);
  if (list.length === 0) return <p class="quiet">It is called without arguments.</p>;
  return (
    <>
      <Values entries={list.slice(0, shownArguments)} />
      {list.length > shownArguments && (
        <details class="more">
          <summary>{plural(list.length - shownArguments, 'more argument')}</summary>
          <Values entries={list.slice(shownArguments)} />
        </details>
      )}
    </>
  );
}

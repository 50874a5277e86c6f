// The small parts every section is made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Act, Answer } from './hooks.ts';
import type { Problem } from './line.ts';

/** What went wrong, and what to do about it. */
export function Trouble({ problem, again }: { problem: Problem; again?: (() => void) | undefined }) {
  return (
    <div class="trouble" role="alert">
      <p>{problem.message}.</p>
      {problem.hint !== undefined && <p class="quiet">{problem.hint}</p>}
      {again !== undefined && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

const address = /((?:[a-z]+:\/\/)?[\w-]+(?:\.[\w-]+)+(?::\d+)?)/u;

/** A sentence in which no address breaks at a hyphen: half of one can pass for another. */
export const Sentence = ({ text }: { text: string }) => (
  <>{text.split(address).map((part, i) => (i % 2 === 1 ? <span class="address">{part}</span> : part))}</>
);

/** The problem of the last thing that was done here, if there was one. */
export const Failed = ({ act }: { act: Act }) =>
  act.problem === undefined ? null : <Trouble problem={act.problem} />;

/** A list of the relay in each of its states: on its way, failed, and there. */
export function Loaded<T>({
  answer,
  name,
  children,
}: {
  answer: Answer<T>;
  name: string;
  children: (value: T) => ComponentChildren;
}) {
  const { value, problem, reload } = answer;
  return (
    <>
      {problem !== undefined && <Trouble problem={problem} again={reload} />}
      {value !== undefined && children(value)}
      {value === undefined && problem === undefined && (
        <p class="quiet loading" aria-busy="true">
          Loading {name} …
        </p>
      )}
    </>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="quiet empty">{children}</p>;

export type Tone = 'good' | 'wait' | 'bad' | 'plain';

export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

/** A section with a heading. */
export function Part({
  title,
  count,
  children,
}: {
  title: string;
  count?: number | undefined;
  children: ComponentChildren;
}) {
  const id = `part-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {count !== undefined && count > 0 && <span class="count">{count}</span>}
      </h2>
      {children}
    </section>
  );
}

/** A choice of one of a few. Its label is seen in a form, and only heard where the choices say enough. */
export function Choice({
  label,
  shown,
  value,
  options,
  onPick,
}: {
  label: string;
  shown?: boolean;
  value: string;
  options: readonly (readonly [string, string])[];
  onPick: (value: string) => void;
}) {
  const select = (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
  if (shown !== true) return select;
  return (
    <div class="field">
      <span aria-hidden="true">{label}</span>
      {select}
    </div>
  );
}

/** A button that asks once more before it does something that cannot be undone. */
export function Sure({
  label,
  name,
  question,
  yes,
  disabled,
  onYes,
}: {
  label: string;
  name: string; // for who does not see what the button belongs to
  question: string;
  yes: string;
  disabled?: boolean;
  onYes: () => void;
}) {
  const [asking, setAsking] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const asked = useRef(false);
  useEffect(() => {
    if (asking) keep.current?.focus();
    else if (asked.current) opener.current?.focus();
    asked.current = asking;
  }, [asking]);
  if (!asking) {
    return (
      <button
        type="button"
        ref={opener}
        aria-label={name}
        disabled={disabled}
        onClick={() => setAsking(true)}
      >
        {label}
      </button>
    );
  }
  const answer = () => {
    setAsking(false);
    onYes();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a form where there is none
    <div
      class="sure"
      role="group"
      aria-label={question}
      onKeyDown={(event) => event.key === 'Escape' && setAsking(false)}
    >
      <p>{question}</p>
      <button type="button" ref={keep} onClick={() => setAsking(false)}>
        Cancel
      </button>
      <button type="button" class="danger" onClick={answer}>
        {yes}
      </button>
    </div>
  );
}

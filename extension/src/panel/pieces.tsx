// Components that several sections use.
import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { besides, lineOf } from './called.ts';
import { type Act, type Answer, useCalled } from './hooks.ts';
import { visibleLine } from './words.ts';
import type { Problem } from './workerport.ts';

/** What went wrong, and what to do about it. */
export function ProblemNotice({ problem, again }: { problem: Problem; again?: (() => void) | undefined }) {
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

/** A sentence in which addresses do not wrap at a hyphen: a part of one could be taken for another address. */
export const Sentence = ({ text }: { text: string }) => (
  <>{text.split(address).map((part, i) => (i % 2 === 1 ? <span class="address">{part}</span> : part))}</>
);

/** The problem of the last request of an act, if there was one. */
export const Failed = ({ act }: { act: Act }) =>
  act.problem === undefined ? null : <ProblemNotice problem={act.problem} />;

/** Shows an answer of the relay, its problem, or that it is loading. */
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
      {problem !== undefined && <ProblemNotice problem={problem} again={reload} />}
      {value !== undefined && children(value)}
      {value === undefined && problem === undefined && (
        <p class="quiet loading" aria-busy="true">
          Loading {name} …
        </p>
      )}
    </>
  );
}

/** Text to paste somewhere else, with a button that copies it. */
export function Copyable({ text, name }: { text: string; name: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce(`${name} is copied.`);
  };
  return (
    <>
      <pre class="command">{visibleLine(text)}</pre>
      <button type="button" class="small" aria-label={`Copy: ${name}`} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </>
  );
}

/** A command of the program, as this person calls it; copied: the name of what a button beside it copies. */
export function Command({ words, copied }: { words: string; copied?: string }) {
  const called = useCalled();
  const line = lineOf(called, words);
  const more = besides(called, words);
  return (
    <>
      {copied ? <Copyable text={line} name={copied} /> : <pre class="command">{visibleLine(line)}</pre>}
      {more !== '' && <p class="quiet">{more}</p>}
    </>
  );
}

/** Text in lines, of which there may be more than fit; end marks where it ends. */
export const Reading = ({ text, end }: { text: string; end?: Ref<HTMLSpanElement> }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach what is there
  <pre class="reading" tabIndex={0}>
    {text}
    {end !== undefined && <span class="end" ref={end} />}
  </pre>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="quiet empty">{children}</p>;

export type Tone = 'good' | 'wait' | 'bad' | 'plain';

export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

/** A section with a heading. */
export function Section({
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

/** A choice of one of a few. In a form its label is visible; elsewhere only screen readers get it. */
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

/** A button that asks for confirmation. */
export function ConfirmButton({
  label,
  name,
  question,
  yes,
  disabled,
  onYes,
}: {
  label: string;
  name: string; // what the button belongs to, for screen readers
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

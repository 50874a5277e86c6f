// Changes of the configuration or the rules that the person has to confirm, and those that took effect when the relay
// started. As with questions about calls, a click or key that was meant for something else must not allow anything.
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type Change, isApprovals } from './answers.generated.ts';
import { BoardContext, useAnswer, useLink, useNow } from './hooks.ts';
import { useReadToEnd } from './inview.ts';
import { Badge, ProblemNotice, Reading } from './pieces.tsx';
import { isMode, modeNames } from './plugins.tsx';
import { calmMs, StillContext } from './still.tsx';
import { moment, span, visible, visibleLine } from './words.ts';
import type { Problem } from './workerport.ts';

type Answer = 'allow' | 'deny';

interface Words {
  badge: string;
  allow: string;
  deny: string | undefined; // undefined: it can only be acknowledged
}

const words: Record<Change['kind'], Words> = {
  asked: { badge: 'Lets agents do more', allow: 'Allow', deny: 'Deny' },
  config: { badge: 'Not in effect yet', allow: 'Allow', deny: 'Keep as it was' },
  start: { badge: 'In effect', allow: 'Keep', deny: 'Undo' },
  lost: { badge: 'Everything asks', allow: 'Use these rules', deny: 'Keep asking' },
  carried: { badge: 'Forbids more', allow: 'I have read it', deny: undefined },
  updated: { badge: 'New version', allow: 'I have read it', deny: undefined },
};

const headline = ({ kind, command, title }: Change): string =>
  kind === 'asked' && command ? `Allow “${visibleLine(command)}”?` : visibleLine(title);

const origin = ({ kind, from, command, title }: Change): string => {
  const why = kind === 'asked' && command ? ` ${visibleLine(title)}.` : '';
  if (kind === 'lost') return 'Until you use these rules, agents ask about everything that is not off.';
  if (kind === 'updated') return 'Your rules apply to the new tools.';
  if (kind === 'carried') return 'Changed by an update of tabrelay.';
  return `${kind === 'asked' ? 'Asked' : 'Changed'} by ${visibleLine(from)}.${why}`;
};

// Replaces the relay's names of modes by the panel's.
const said = (text: string): string =>
  text.replace(/^(off|ask|auto)(?= for |$)|(?<=^no rule \()(off|ask|auto)(?=\))/, (mode) =>
    isMode(mode) ? modeNames[mode] : mode,
  );
// What is quoted (a script) stays as it is.
const saidInLines = (text: string): string =>
  text.replace(/(?<=^(?!\| ).*(?:: |→ ))(off|ask|auto)(?= →|$)/gm, (mode) =>
    isMode(mode) ? modeNames[mode] : mode,
  );

/** Replaces the spaces of an indent by no-break spaces, so that no line wraps between it and a long word. */
const keepIndents = (text: string): string =>
  text.replace(/^ +/gm, (indent) => '\u00a0'.repeat(indent.length));

export function Differences({ of }: { of: Pick<Change, 'differences'> }) {
  if (of.differences.length === 0) return null;
  return (
    <ul class="differences">
      {of.differences.map(({ what, before, after }) => (
        <li key={what}>
          <b>{visibleLine(what)}</b>
          <span>
            <span class="unseen">from </span>
            <s>{visibleLine(said(before))}</s> <span aria-hidden="true">→</span>
            <span class="unseen"> to </span> <strong>{visibleLine(said(after))}</strong>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Scrolls on in a text, and to it once its end is in view there. */
function readOn(end: HTMLElement | null): void {
  const text = end?.parentElement;
  if (!text) return;
  text.focus();
  text.scrollBy({ top: text.clientHeight * 0.8 });
  text.scrollIntoView({ block: 'nearest' });
}

function Card({ of, now, quiet }: { of: Change; now: number; quiet: boolean }) {
  const board = useContext(BoardContext);
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const { id, kind, digest, text } = of;
  const end = useRef<HTMLSpanElement>(null);
  const hasText = Boolean(text);
  const seen = useReadToEnd(end, hasText);
  const read = hasText ? seen : true;
  const until = moment(of.until);
  const answer = async (given: Answer) => {
    setSent(true);
    const path = `approvals/${encodeURIComponent(id)}`;
    const reply = await board.act('POST', path, { answer: given, digest });
    setSent(false);
    if (reply.ok) announce(`${words[kind][given] ?? ''}: ${headline(of)}`);
    else if (reply.problem.status !== 410) setProblem(reply.problem);
  };
  const allowing = quiet || sent || read === undefined;
  return (
    <article
      class={`question change ${kind}`}
      tabIndex={-1}
      aria-labelledby={`change-${id}`}
      aria-busy={sent}
    >
      <header>
        <Badge tone={kind === 'start' || kind === 'carried' || kind === 'updated' ? 'plain' : 'wait'}>
          {words[kind].badge}
        </Badge>
        {until !== undefined && (
          <span class="quiet">{until <= now ? 'time is up' : `${span(until - now)} left`}</span>
        )}
      </header>
      <h3 id={`change-${id}`}>{headline(of)}</h3>
      <p class="quiet">{origin(of)}</p>
      <Differences of={of} />
      {text && <Reading text={keepIndents(visible(saidInLines(text)))} end={end} />}
      {kind === 'lost' && of.aside !== true && (
        <p>
          <a href="#rules">See and change your rules</a>
        </p>
      )}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="answers">
        <div class="buttons">
          {words[kind].deny && of.aside !== true && (
            <button
              type="button"
              class="deny"
              disabled={sent}
              onClick={({ detail }) => detail < 2 && answer('deny')}
            >
              {words[kind].deny}
            </button>
          )}
          {read === false ? (
            <button type="button" onClick={() => readOn(end.current)}>
              Read it all first
            </button>
          ) : (
            <button
              type="button"
              class={kind === 'lost' ? '' : 'allow'}
              aria-disabled={allowing}
              onKeyDown={(event) => event.repeat && event.preventDefault()}
              onClick={({ detail }) => !allowing && detail < 2 && answer('allow')}
            >
              {words[kind].allow}
            </button>
          )}
        </div>
      </div>
    </article>
  );
}

/** The pending changes; with aside, those that the person has postponed, which are listed with the rules. */
export function Changes({ aside = false }: { aside?: boolean }) {
  const connected = useLink()?.link.phase === 'connected';
  const now = useNow();
  const still = useContext(StillContext);
  const { value } = useAnswer('approvals', isApprovals);
  const list = connected ? (value?.changes ?? []).filter((one) => (one.aside === true) === aside) : [];
  const shown = list.map(({ id, digest }) => `${id} ${digest}`).join(' ');
  const before = useRef('');
  const [calmWith, setCalmWith] = useState('');
  // Depends on which changes there are, not on their objects. Buttons stay disabled until the list has not changed for
  // a moment, because a click may have been meant for what was there before.
  useEffect(() => {
    const fresh = list.find(({ id, digest }) => !before.current.includes(`${id} ${digest}`));
    if (fresh !== undefined) announce(`To confirm: ${headline(fresh)}`);
    before.current = shown;
    const timer = setTimeout(() => setCalmWith(shown), calmMs);
    return () => clearTimeout(timer);
  }, [shown]);
  if (list.length === 0) return null;
  return (
    <section class="questions" aria-labelledby={`changes-title${aside ? '-aside' : ''}`}>
      <h2 id={`changes-title${aside ? '-aside' : ''}`}>{aside ? 'Not decided yet' : 'What agents may do'}</h2>
      {list.map((one) => (
        <Card key={`${one.id} ${one.digest}`} of={one} now={now} quiet={calmWith !== shown || !still} />
      ))}
    </section>
  );
}

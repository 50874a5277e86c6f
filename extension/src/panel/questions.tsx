// The pending questions, above everything else, and notes about those that are closed.
import type { Ref } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Guarded } from '../shared/guards.ts';
import { announce } from './announcer.tsx';
import { isApprovals, type Question } from './answers.generated.ts';
import { BoardContext, useAnswer, useLink, useNow } from './hooks.ts';
import { ProblemNotice } from './pieces.tsx';
import { QuestionCard, sessionText, type Verdict } from './question.tsx';
import { calmMs, StillContext } from './still.tsx';
import { actor, moment, toolTitle } from './words.ts';
import type { Problem } from './workerport.ts';

const notesKept = 3;

interface Note {
  id: string;
  tone: 'good' | 'plain';
  text: string;
}

const subject = (question: Question): string =>
  `${actor(question)}: ${toolTitle(question.tool, question.title)}`;

function noteOf(question: Question, verdict: Verdict): Note {
  const { id } = question;
  if (verdict.answer === 'deny') return { id, tone: 'plain', text: `Denied. ${subject(question)}` };
  if (verdict.for === 'session' && question.covers)
    return { id, tone: 'good', text: `Allowed for this session: ${sessionText(question)}` };
  const span = { next: 'for the next time', once: 'once', session: 'for this session', always: 'always' }[
    verdict.for
  ];
  return { id, tone: 'good', text: `Allowed ${span}. ${subject(question)}` };
}

/** The note about a question that was answered elsewhere, or that nobody answered. */
function lostNote(question: Question, how: string | undefined): Note {
  const { id } = question;
  const late = (moment(question.until) ?? 0) <= Date.now() + 1000;
  const over = how ?? (late ? 'nobody answered in time' : 'the agent no longer waits for an answer');
  return { id, tone: 'plain', text: `${subject(question)}. The question is closed: ${over}.` };
}

/** Orders the oldest first, so that a new question does not move the one that is being read. */
const byAge = (one: Question, other: Question): number =>
  (moment(one.asked) ?? 0) - (moment(other.asked) ?? 0) || (one.id < other.id ? -1 : 1);

/** Whether focus must not be moved: the person is typing, or is in another question. */
function occupied(active: Element | null): boolean {
  if (active === null) return false;
  return active.closest('input, textarea, select, [contenteditable], .question, .sure') !== null;
}

/** Compares the questions with the last ones: announces new ones, reports closed ones to onLost, and moves focus. */
function useComings(questions: readonly Question[] | undefined, onLost: (question: Question) => void) {
  const cards = useRef(new Map<string, HTMLElement>());
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef<readonly Question[]>([]);
  const had = useRef<string | undefined>(undefined); // the question that had focus
  const ids = questions?.map(({ id }) => id).join(' ');
  const [calmWith, setCalmWith] = useState<string>(); // the ids that have not changed for calmMs
  // Depends on the ids: every refresh makes new objects.
  useEffect(() => {
    if (questions === undefined) return;
    const old = before.current;
    before.current = questions;
    for (const gone of old.filter((one) => !questions.some(({ id }) => id === one.id))) onLost(gone);
    const fresh = questions.find((one) => !old.some(({ id }) => id === one.id));
    if (fresh !== undefined) announce(`Question: ${subject(fresh)}. ${questions.length} waiting.`);
    const orphaned = had.current !== undefined && !questions.some(({ id }) => id === had.current);
    const next = orphaned ? questions[0] : fresh;
    if (next !== undefined && (orphaned || !occupied(document.activeElement)))
      cards.current.get(next.id)?.focus();
    else if (orphaned && document.activeElement === document.body) heading.current?.focus();
    const timer = setTimeout(() => setCalmWith(ids), calmMs);
    return () => clearTimeout(timer);
  }, [ids]);
  const watchFocus = (id: string) => (card: HTMLElement | null) => {
    if (card === null) cards.current.delete(id);
    else cards.current.set(id, card);
  };
  return { watchFocus, heading, calm: calmWith === ids, had };
}

/** Scrolls to the question whose notification the person clicked; when it is closed, calls onLost. */
function useWanted(
  section: { current: HTMLElement | null },
  answer: Guarded<typeof isApprovals> | undefined,
  onLost: (id: string, how: string | undefined) => void,
) {
  const board = useContext(BoardContext);
  // The question is looked for in the first answer that arrives after the click; there is none while disconnected.
  useEffect(() => {
    const { wanted } = board;
    if (wanted === undefined || answer === undefined) return;
    board.wanted = undefined;
    const cards = [...(section.current?.querySelectorAll<HTMLElement>('.question') ?? [])];
    const card = cards.find(({ dataset }) => dataset.id === wanted);
    if (card === undefined) onLost(wanted, answer.ended.find(({ id }) => id === wanted)?.how);
    card?.scrollIntoView({ block: 'nearest' });
    card?.focus();
  }, [answer]);
}

/** Sends the person's answers; given has the questions that were answered here. */
function useVerdicts(note: (one: Note) => void) {
  const board = useContext(BoardContext);
  const [sent, setSent] = useState<readonly string[]>([]);
  const [problems, setProblems] = useState<Record<string, Problem>>({});
  const [over, setOver] = useState<readonly string[]>([]); // closed, though still in the list of the last refresh
  const given = useRef(new Set<string>());

  const decide = async (question: Question, verdict: Verdict) => {
    const { id } = question;
    given.current.add(id);
    setSent((all) => [...all, id]);
    const reply = await board.act('POST', `approvals/${encodeURIComponent(id)}`, verdict);
    setSent((all) => all.filter((one) => one !== id));
    if (reply.ok) note(noteOf(question, verdict));
    else if (reply.problem.status === 410) {
      setOver((all) => [...all, id]);
      note({ id, tone: 'plain', text: `${subject(question)}. ${reply.problem.message}.` });
    } else {
      given.current.delete(id);
      setProblems((all) => ({ ...all, [id]: reply.problem }));
    }
  };
  return { sent, problems, decide, given, over };
}

function Notes({ notes, onClear }: { notes: readonly Note[]; onClear: () => void }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((one) => (
        <li key={one.id} class={one.tone}>
          {one.text}
        </li>
      ))}
      <li>
        <button type="button" class="small" onClick={onClear}>
          Clear
        </button>
      </li>
    </ul>
  );
}

const headingOf = (count: number): string =>
  count === 0 ? 'Questions' : count === 1 ? 'One question for you' : `${count} questions for you`;

export function Questions() {
  const connected = useLink()?.link.phase === 'connected';
  const now = useNow();
  const still = useContext(StillContext);
  const { value, problem, reload } = useAnswer('approvals', isApprovals);
  const [notes, setNotes] = useState<readonly Note[]>([]);

  const note = (one: Note) => {
    setNotes((all) => [one, ...all.filter(({ id }) => id !== one.id)].slice(0, notesKept));
    announce(one.text);
  };
  // What was allowed for a session ends with the relay, so these notes would be false after it restarts.
  useEffect(() => {
    if (!connected) setNotes([]);
  }, [connected]);
  const { sent, problems, decide, given, over } = useVerdicts(note);
  const open = value?.approvals.filter(({ id }) => !over.includes(id));
  const questions = connected ? open?.toSorted(byAge) : undefined;
  const missed = (connected && value?.missed) || [];
  const count = questions?.length ?? 0;
  const { watchFocus, heading, calm, had } = useComings(questions, (gone) => {
    if (given.current.has(gone.id) || missed.some(({ id }) => id === gone.id)) return;
    note(lostNote(gone, value?.ended.find(({ id }) => id === gone.id)?.how));
  });
  const section = useRef<HTMLElement>(null);
  useWanted(section, connected ? value : undefined, (id, how) =>
    note({
      id,
      tone: 'plain',
      text: `The question is closed: ${how ?? 'it was answered, or the agent no longer waits'}.`,
    }),
  );
  const cardOf = (question: Question, card: Ref<HTMLElement>) => (
    <QuestionCard
      key={question.id}
      question={question}
      now={now}
      quiet={!calm || !still}
      sent={sent.includes(question.id)}
      problem={problems[question.id]}
      card={card}
      onVerdict={(verdict) => decide(question, verdict)}
    />
  );

  if (count === 0 && missed.length === 0 && notes.length === 0 && problem === undefined) return null;
  return (
    <section
      ref={section}
      class="questions"
      aria-labelledby="questions-title"
      onFocusIn={({ target }) => {
        const card = target instanceof Element ? target.closest<HTMLElement>('.question') : null;
        had.current = card?.dataset.id;
      }}
    >
      <h2 id="questions-title" ref={heading} tabIndex={-1}>
        {count === 0 && missed.length > 0 ? 'Missed questions' : headingOf(count)}
      </h2>
      {problem !== undefined && connected && <ProblemNotice problem={problem} again={reload} />}
      {questions?.map((question) => cardOf(question, watchFocus(question.id)))}
      {missed.length > 0 && (
        <>
          {count > 0 && <h2>Missed questions</h2>}
          <p class="quiet">Nobody answered in time. The agent was told to try again later.</p>
          {missed.map((question) => cardOf(question, null))}
        </>
      )}
      <Notes notes={notes} onClear={() => setNotes([])} />
    </section>
  );
}

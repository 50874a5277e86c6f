// One question: may this call run? A key or click that was meant for something else must not answer it: focus goes to
// the card, not to a button, and buttons that allow are disabled until the list has not changed for a moment, and while
// the question is out of view.
import type { ComponentChildren, Ref } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Question } from './answers.generated.ts';
import { Arguments, useOpened } from './argument.tsx';
import { useInView, useReadToEnd } from './inview.ts';
import { Badge, ProblemNotice, Sentence, type Tone } from './pieces.tsx';
import { siteOf } from './place.tsx';
import { claim, moment, span, toolTitle, visible, visibleLine } from './words.ts';
import type { Problem } from './workerport.ts';

type Choice = 'once' | 'session' | 'always';
export type Verdict = { answer: 'deny' } | { answer: 'allow'; for: Choice | 'next' };

const risks: Record<Question['risk'], { tone: Tone; text: string }> = {
  reads: { tone: 'plain', text: 'Changes nothing' },
  changes: { tone: 'wait', text: 'Changes something' },
  destroys: { tone: 'bad', text: 'May delete or overwrite' },
};

const choiceTexts: Record<Choice | 'next', string> = {
  next: 'Allow next time',
  once: 'Allow once',
  session: 'Allow for this session',
  always: 'Always allow',
};

/** The label of a button that allows; “always” names the tool and the site. */
function choiceText(choice: Choice | 'next', { origin, tool, title }: Question): string {
  if (choice !== 'always') return choiceTexts[choice];
  return `Always allow “${toolTitle(tool, title)}” ${origin ? `on ${siteOf(origin)}` : 'on every site'}`;
}

/** What an answer for the session allows, and until when. */
export const sessionText = ({ client, covers }: Question): string =>
  `${visibleLine(client)} may ${visibleLine(covers ?? '')}, until it disconnects or an hour passes without a call.`;

/** The details of a question. */
function Facts({ question }: { question: Question }) {
  const { client, called, agent, tool, title, tabTitle, tabId, profile, pluginTitle, origin } = question;
  const facts: [string, ComponentChildren][] = [];
  if (tabId) {
    const where = tabTitle ? `“${visibleLine(tabTitle)}”` : 'without a title';
    facts.push(['Tab', `${where}, ${visibleLine(question.url ?? '')}`]);
  }
  if (profile) facts.push(['Profile', visibleLine(profile)]);
  facts.push([
    'Tool',
    <>
      {toolTitle(tool, title)} (<code>{visibleLine(tool)}</code>)
      {pluginTitle && ` of ${visibleLine(pluginTitle)}`}
    </>,
  ]);
  if (called) facts.push([agent ? 'Its client' : 'Client', claim(question)]);
  if (question.changes) facts.push(['Effect', visible(question.changes)]);
  if (question.covers && question.choices.includes('session'))
    facts.push(['For this session', sessionText(question)]);
  if (question.managed) facts.push(['Set by your organization', visible(question.managed)]);
  if (question.choices.includes('always'))
    facts.push([
      'Always',
      `${visibleLine(client)} may use ${visibleLine(tool)}${origin ? ` on ${visibleLine(origin)}` : ''}, until you ` +
        'remove the rule.',
    ]);
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The steps of an act in sentences. */
function Deeds({ deeds }: { deeds: readonly string[] }) {
  const [only] = deeds;
  if (only === undefined) return null;
  if (deeds.length === 1)
    return (
      <p class="deeds">
        <bdi>
          <Sentence text={visibleLine(only)} />
        </bdi>
      </p>
    );
  return (
    <ol class="deeds">
      {deeds.map((deed, i) => (
        <li key={i}>
          <bdi>
            <Sentence text={visibleLine(deed)} />
          </bdi>
        </li>
      ))}
    </ol>
  );
}

/** The time that is left to answer, to keep a missed question, or to use what was allowed for next time. */
function timeText({ missed, allowedNext }: Question, left: number): string {
  if (left === 0) return 'time is up';
  if (allowedNext === true) return `for ${span(left)}`;
  return missed === true ? `kept for ${span(left)}` : `${span(left)} left`;
}

function TimeLeft({ question, now }: { question: Question; now: number }) {
  const until = moment(question.until) ?? now;
  const asked = moment(question.asked) ?? now;
  const left = Math.max(0, until - now);
  return (
    <span class="time-left">
      <span>{timeText(question, left)}</span>
      {question.missed !== true && (
        <progress aria-hidden="true" max={Math.max(1, until - asked)} value={left} />
      )}
    </span>
  );
}

/** Whether allowing is not highlighted, because the call may do harm. */
const grave = ({ risk, effects }: Question): boolean => risk === 'destroys' || (effects?.length ?? 0) > 0;

/** The effects of a call; without any, its risk. */
function Effects({ question: { risk, effects, elsewhere } }: { question: Question }) {
  if (elsewhere && (effects?.length ?? 0) > 1) effects = effects?.filter((one) => !elsewhere.startsWith(one));
  if (!effects || effects.length === 0) return <Badge tone={risks[risk].tone}>{risks[risk].text}</Badge>;
  return effects.map((one) => (
    <Badge key={one} tone="bad">
      {visibleLine(one)}
    </Badge>
  ));
}

interface AnswersProps {
  question: Question;
  quiet: boolean;
  unread: boolean; // the end of the arguments has not been in view yet
  onRead: () => void;
  onVerdict: (verdict: Verdict) => void;
}

function Answers({ question, quiet, unread, onRead, onVerdict }: AnswersProps) {
  const { missed, allowedNext } = question;
  const [more, setMore] = useState(false);
  const choices = (['once', 'session', 'always'] as const).filter((one) => question.choices.includes(one));
  const first = choices.find((one) => one === question.choices[0]) ?? 'once';
  const allow = (choice: Choice | 'next', className: string) => (
    <button
      key={choice}
      type="button"
      class={className}
      aria-disabled={quiet}
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      onClick={(event) => {
        // A double click began on what was here before this button.
        if (!quiet && event.detail < 2) onVerdict({ answer: 'allow', for: choice });
      }}
    >
      {choiceText(choice, question)}
    </button>
  );
  const primary = () => {
    if (allowedNext === true) return null;
    if (unread)
      return (
        <button
          type="button"
          onClick={({ currentTarget }) => {
            currentTarget.closest<HTMLElement>('.question')?.focus({ preventScroll: true });
            onRead();
          }}
        >
          Read it all first
        </button>
      );
    if (missed === true) return allow('next', '');
    return allow(first, grave(question) ? '' : 'allow');
  };
  const others = missed === true || unread ? [] : choices.filter((one) => one !== first);
  return (
    <div class="answers">
      <div class="buttons">
        <button type="button" class="deny" onClick={() => onVerdict({ answer: 'deny' })}>
          {allowedNext === true ? 'Revoke' : missed === true ? 'Dismiss' : 'Deny'}
        </button>
        {primary()}
        {others.length > 0 && (
          <button
            type="button"
            class="others"
            aria-label="More answers"
            aria-expanded={more}
            onClick={() => setMore(!more)}
          >
            ⋯
          </button>
        )}
      </div>
      {more && others.length > 0 && <div class="lasting">{others.map((one) => allow(one, ''))}</div>}
    </div>
  );
}

export interface QuestionCardProps {
  question: Question;
  now: number;
  quiet: boolean; // buttons that allow are disabled
  sent: boolean; // an answer is on its way
  problem: Problem | undefined;
  card: Ref<HTMLElement>;
  onVerdict: (verdict: Verdict) => void;
}

export function QuestionCard(props: QuestionCardProps) {
  const { question, now, quiet, sent, problem, card, onVerdict } = props;
  const { id, client, note, reason, risk, missed, allowedNext } = question;
  const [open, setOpen] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const end = useRef<HTMLSpanElement>(null);
  const inView = useInView(heading);
  const deeds = question.deeds ?? [];
  const opening = useOpened(question);
  const isSaid = deeds.length > 0 && !deeds.some((one) => one.includes('…')); // the sentences are complete
  const isShown = risk !== 'reads' || open;
  const inSight = useReadToEnd(end, isShown) ?? (isShown ? undefined : true);
  // A call that may do harm needs all arguments shown, unless its sentences are complete.
  const isUnopened = grave(question) && !isSaid && opening.more;
  const read = isUnopened ? false : inSight;
  const readOn = () => {
    if (!open) setOpen(true);
    else if (isUnopened && inSight === true) opening.open(opening.opened?.secrets === true);
    else scrollBy({ top: innerHeight * 0.6 });
  };
  return (
    <article
      ref={card}
      class={`question ${grave(question) ? 'destroys' : risk} ${missed === true ? 'missed' : ''}`}
      data-id={id}
      tabIndex={-1}
      aria-labelledby={`who-${id}`}
      aria-describedby={`risk-${id}`}
      aria-busy={sent}
    >
      <h3 id={`who-${id}`} ref={heading}>
        <Sentence text={visibleLine(question.lead || question.sentence.replace(` (${question.tool})`, ''))} />
      </h3>
      <div class="line meta">
        <span id={`risk-${id}`}>
          <Effects question={question} />
        </span>
        <TimeLeft question={question} now={now} />
        <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Less' : 'Details'}
        </button>
      </div>
      {allowedNext === true && <p class="good">Allowed once, when the agent makes this call again.</p>}
      {question.machine && (
        <p class="note">Not from this computer: it comes from {visibleLine(question.machine)}.</p>
      )}
      {question.first === true && <p class="quiet">First request from {visibleLine(client)}.</p>}
      {reason && (
        <p class="reason" title={visibleLine(reason)}>
          The agent says: “{visibleLine(reason)}”
        </p>
      )}
      {note && <p class="note">{visible(note)}</p>}
      {question.elsewhere && (
        <p class="elsewhere">
          <bdi>
            <Sentence text={visibleLine(question.elsewhere)} />
          </bdi>
        </p>
      )}
      {isShown && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
        <div class={open ? 'content' : 'content folded'} role="group" aria-label="Details">
          <div>
            <Deeds deeds={deeds} />
            {(open || !isSaid) && <Arguments question={question} opening={opening} />}
            <span class="end" ref={end} />
          </div>
          {open && <Facts question={question} />}
        </div>
      )}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <Answers
        question={question}
        quiet={quiet || sent || !inView || read === undefined}
        unread={read === false}
        onRead={readOn}
        onVerdict={onVerdict}
      />
    </article>
  );
}

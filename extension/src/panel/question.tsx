// One question: may this call run? Nothing in here is answered by a key that was meant for something else: focus comes
// to the card, not to a button, and buttons that allow wait until the list has stood still for a moment.
import type { Ref } from 'preact';
import type { Question } from './answers.ts';
import { Arguments } from './argument.tsx';
import type { Problem } from './line.ts';
import { Badge, type Tone, Trouble } from './pieces.tsx';
import { moment, span, toolTitle, visible, visibleLine } from './words.ts';

export type Verdict = { answer: 'deny' } | { answer: 'allow'; for: 'once' | 'session' | 'always' };

const risks: Record<Question['risk'], { tone: Tone; text: string }> = {
  reads: { tone: 'plain', text: 'Only reads' },
  changes: { tone: 'wait', text: 'Changes something' },
  destroys: { tone: 'bad', text: 'May delete or overwrite' },
};

function Place({ question }: { question: Question }) {
  const { tabTitle, profile } = question;
  const origin = question.origin ?? '';
  const url = question.url ?? '';
  if (!question.tabId) return null;
  const rest = url.startsWith(origin) ? url.slice(origin.length) : '';
  return (
    <div class="place">
      <p>
        In the tab <b>{tabTitle ? `“${visibleLine(tabTitle)}”` : 'without a title'}</b>
      </p>
      <p class="address">
        <b>{visibleLine(origin === '' ? url : origin)}</b>
        {rest !== '/' && <span class="quiet">{visibleLine(rest)}</span>}
      </p>
      {profile && <p class="quiet">Profile: {visibleLine(profile)}</p>}
    </div>
  );
}

function TimeLeft({ question, now }: { question: Question; now: number }) {
  const until = moment(question.until) ?? now;
  const asked = moment(question.asked) ?? now;
  const left = Math.max(0, until - now);
  return (
    <span class="time-left">
      <span>{left === 0 ? 'time is up' : `${span(left)} left`}</span>
      <progress aria-hidden="true" max={Math.max(1, until - asked)} value={left} />
    </span>
  );
}

function Buttons({
  question,
  quiet,
  onVerdict,
}: {
  question: Question;
  quiet: boolean;
  onVerdict: (verdict: Verdict) => void;
}) {
  const offers = (choice: 'once' | 'session' | 'always') => question.choices.includes(choice);
  const allow = (choice: 'once' | 'session' | 'always', className: string, text: string) =>
    offers(choice) && (
      <button
        type="button"
        class={className}
        aria-disabled={quiet}
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={(event) => {
          // The second click of a double click was meant for whatever stood here before.
          if (!quiet && event.detail < 2) onVerdict({ answer: 'allow', for: choice });
        }}
      >
        {text}
      </button>
    );
  return (
    <div class="answers">
      <div class="buttons">
        <button type="button" class="deny" onClick={() => onVerdict({ answer: 'deny' })}>
          Deny
        </button>
        {allow('once', 'allow', 'Allow once')}
      </div>
      {(offers('session') || offers('always')) && (
        <div class="buttons lasting">
          {allow('session', '', 'For this session')}
          {allow('always', '', 'Always allow')}
        </div>
      )}
    </div>
  );
}

export interface QuestionCardProps {
  question: Question;
  now: number;
  quiet: boolean; // buttons that allow do nothing yet
  sent: boolean; // an answer is on its way
  problem: Problem | undefined;
  card: Ref<HTMLElement>;
  onVerdict: (verdict: Verdict) => void;
}

export function QuestionCard(props: QuestionCardProps) {
  const { question, now, quiet, sent, problem, card, onVerdict } = props;
  const { id, client, called, agent, tool, title, pluginTitle, changes, note, risk } = question;
  return (
    <article
      ref={card}
      class={`question ${risk}`}
      data-id={id}
      tabIndex={-1}
      aria-labelledby={`who-${id}`}
      aria-describedby={`risk-${id}`}
      aria-busy={sent}
    >
      <header>
        <span id={`risk-${id}`}>
          <Badge tone={risks[risk].tone}>{risks[risk].text}</Badge>
        </span>
        <TimeLeft question={question} now={now} />
      </header>
      <h3 id={`who-${id}`}>
        {agent && (
          <>
            The agent <span class="client">{visibleLine(agent)}</span> for{' '}
          </>
        )}
        <span class="client">{visibleLine(client)}</span> wants to use{' '}
        <span class="tool">{toolTitle(tool, title)}</span>
      </h3>
      <p class="quiet name">
        {pluginTitle ? `${visibleLine(pluginTitle)} · ` : ''}
        <code>{visibleLine(tool)}</code>
      </p>
      {called && (
        <p class="quiet">
          {agent ? 'That client' : 'It'} has no name of its own here. It calls itself “{visibleLine(called)}”.
        </p>
      )}
      {question.first === true && <p class="quiet">It is the first time that {visibleLine(client)} asks.</p>}
      <Place question={question} />
      {note && <p class="note">{visible(note)}</p>}
      {changes && risk !== 'reads' && (
        <p class="changes">
          <b>What will change:</b> {visible(changes)}
        </p>
      )}
      <Arguments question={question} />
      {problem !== undefined && <Trouble problem={problem} />}
      <Buttons question={question} quiet={quiet || sent} onVerdict={onVerdict} />
    </article>
  );
}

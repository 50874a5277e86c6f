// The audit log: every call and every decision, the newest first, with filters and a file to take away.
import { useContext, useState } from 'preact/hooks';
import { type Guarded, isText } from '../page/guards.ts';
import { isAudit, isVerified, type LogEntry } from './answers.ts';
import { BoardContext, useAnswer, useNow } from './hooks.ts';
import type { Problem } from './line.ts';
import { Badge, Choice, Empty, Loaded, Part, type Tone, Trouble } from './pieces.tsx';
import { clock, duration, moment, plural, visible, visibleLine } from './words.ts';

const pageSize = 50;
const most = 1000; // entries that the relay answers with at once

const kinds = [
  ['', 'Everything'],
  ['call', 'Calls'],
  ['decision', 'Decisions'],
  ['rule', 'Rules'],
  ['review', 'Reviews'],
  ['client', 'Clients'],
  ['switch', 'Stops'],
  ['tab', 'Tabs'],
] as const;

const outcomes = [
  ['', 'any end'],
  ['returned', 'done'],
  ['not_executed', 'not done'],
  ['executed', 'done, then failed'],
  ['unknown', 'not known'],
] as const;

const endOf = (entry: LogEntry): { tone: Tone; text: string } | undefined => {
  if (entry.kind !== 'call') return undefined;
  if (entry.outcome === 'returned') return { tone: 'good', text: 'done' };
  return { tone: 'bad', text: entry.code || entry.outcome || 'failed' };
};

function Facts({ entry }: { entry: LogEntry }) {
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['What', entry.detail],
    ['Decision', entry.decision],
    ['Decided by', entry.decidedBy],
    ['Tool', entry.tool],
    ['Arguments', entry.arguments],
    ['Site', entry.origin],
    ['Profile', entry.profile],
    ['Took', entry.durationMs ? duration(entry.durationMs) : undefined],
    ['Outcome', entry.outcome?.replaceAll('_', ' ')],
    ['Id', entry.callId],
  ];
  return (
    <dl class="arguments">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{visible(value)}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

function EntryRow({ entry, now }: { entry: LogEntry; now: number }) {
  const end = endOf(entry);
  const subject = entry.tool || entry.detail || entry.plugin || entry.kind;
  return (
    <li class="row">
      <details>
        <summary class="line wrap">
          <span class="tool">{visibleLine(subject)}</span>
          {end === undefined ? (
            <Badge tone="plain">{visibleLine(entry.decision || entry.kind)}</Badge>
          ) : (
            <Badge tone={end.tone}>{visibleLine(end.text)}</Badge>
          )}
          <span class="quiet when">
            {clock(moment(entry.at) ?? now, now)}
            {entry.client && ` · ${visibleLine(entry.client)}`}
          </span>
        </summary>
        <Facts entry={entry} />
      </details>
    </li>
  );
}

function save(text: string, name: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // Chrome reads it after the click
}

function verdictOf({ whole, rows, problems }: Guarded<typeof isVerified>): string {
  if (whole) return `Nothing was changed: all ${plural(rows, 'entry', 'entries')} are as they were written.`;
  return `The log is not as it was written. ${(problems ?? []).map(({ message }) => message).join('. ')}`;
}

function Export({ filters }: { filters: URLSearchParams }) {
  const board = useContext(BoardContext);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [checked, setChecked] = useState<string | undefined>(undefined);
  const take = async (format: 'csv' | 'jsonl', type: string) => {
    const query = new URLSearchParams(filters);
    query.set('format', format);
    query.set('limit', String(most));
    const reply = await board.line.request('GET', `audit?${query}`);
    setProblem(reply.ok ? undefined : reply.problem);
    if (!reply.ok) return;
    const text = isText(reply.body) ? reply.body : `${JSON.stringify(reply.body)}\n`;
    save(text, `tabrelay-audit.${format}`, type);
  };
  const verify = async () => {
    const reply = await board.line.request('GET', 'audit/verify');
    setProblem(reply.ok ? undefined : reply.problem);
    setChecked(reply.ok && isVerified(reply.body) ? verdictOf(reply.body) : undefined);
  };
  return (
    <>
      <div class="buttons lasting">
        <button type="button" class="small" onClick={() => take('csv', 'text/csv')}>
          Save as CSV
        </button>
        <button type="button" class="small" onClick={() => take('jsonl', 'application/jsonl')}>
          Save as JSON Lines
        </button>
        <button type="button" class="small" onClick={verify}>
          Check the log
        </button>
      </div>
      <p class="quiet" aria-live="polite">
        {checked ??
          `Files have the newest ${plural(most, 'entry', 'entries')}; “tabrelay audit” saves them all.`}
      </p>
      {problem !== undefined && <Trouble problem={problem} />}
    </>
  );
}

export function Log() {
  const [kind, setKind] = useState('');
  const [outcome, setOutcome] = useState('');
  const [client, setClient] = useState('');
  const [limit, setLimit] = useState(pageSize);
  const filters = new URLSearchParams();
  for (const [name, value] of Object.entries({ kind, outcome, client: client.trim() })) {
    if (value !== '') filters.set(name, value);
  }
  const query = new URLSearchParams(filters);
  query.set('limit', String(limit));
  const answer = useAnswer(`audit?${query}`, isAudit);
  const now = useNow();
  return (
    <Part title="Audit log">
      <div class="filters">
        <Choice label="What" value={kind} options={kinds} onPick={setKind} />
        <Choice label="How it ended" value={outcome} options={outcomes} onPick={setOutcome} />
        <input
          type="search"
          aria-label="Client"
          placeholder="client"
          value={client}
          onChange={({ currentTarget }) => setClient(currentTarget.value)}
        />
      </div>
      <Loaded answer={answer} name="the log">
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <Empty>
                {[...filters.keys()].length > 0 ? 'Nothing in the log fits.' : 'Nothing has happened yet.'}
              </Empty>
            ) : (
              <ol class="rows">
                {entries.map((entry, index) => (
                  <EntryRow
                    key={`${entry.at} ${entry.callId ?? index} ${entry.kind}`}
                    entry={entry}
                    now={now}
                  />
                ))}
              </ol>
            )}
            {limit < most && next != null && next !== '' && next !== 0 && (
              <button type="button" onClick={() => setLimit(Math.min(limit + pageSize, most))}>
                Show older ones
              </button>
            )}
            <Export filters={filters} />
          </>
        )}
      </Loaded>
    </Part>
  );
}

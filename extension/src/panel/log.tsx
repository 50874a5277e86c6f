// The audit log: every call and every decision, the newest first, with filters and export.
import { useState } from 'preact/hooks';
import { isAudit, type LogEntry } from './answers.generated.ts';
import { Export } from './export.tsx';
import { useAnswer, useNow } from './hooks.ts';
import { Badge, Choice, Empty, Loaded, Section, type Tone } from './pieces.tsx';
import { actor, clock, duration, endingText, moment, visible, visibleLine } from './words.ts';

const pageSize = 50;
const most = 1000; // the most entries of one answer of the relay

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
  ['', 'any outcome'],
  ['returned', 'done'],
  ['not_executed', 'not done'],
  ['executed', 'done, then failed'],
  ['unknown', 'unknown outcome'],
] as const;

const endOf = (entry: LogEntry): { tone: Tone; text: string } | undefined => {
  if (entry.kind !== 'call') return undefined;
  if (entry.outcome === 'returned') return { tone: 'good', text: 'done' };
  return { tone: 'bad', text: endingText(entry.code) };
};

function Facts({ entry }: { entry: LogEntry }) {
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['What', entry.detail],
    ['Agent', entry.agent],
    ['Acts for the client', entry.agent ? entry.client : undefined],
    ['In its session', entry.asker],
    ['Decision', entry.decision],
    ['Decided by', entry.decidedBy],
    ['Tool', entry.tool],
    ['Arguments', entry.arguments],
    ['Site', entry.origin],
    ['Profile', entry.profile],
    ['Took', entry.durationMs ? duration(entry.durationMs) : undefined],
    ['Code', entry.code],
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
  const { decision } = entry;
  const said = decision && subject.endsWith(decision); // as “The client NAME was added”
  return (
    <li class="row">
      <details>
        <summary class="line wrap">
          <span class="tool">{visibleLine(subject)}</span>
          {end === undefined ? (
            <Badge tone="plain">{visibleLine((!said && decision) || entry.kind)}</Badge>
          ) : (
            <Badge tone={end.tone}>{visibleLine(end.text)}</Badge>
          )}
          <span class="quiet when">
            {clock(moment(entry.at) ?? now, now)}
            {entry.client && ` · ${actor({ agent: entry.agent, client: entry.client })}`}
          </span>
        </summary>
        <Facts entry={entry} />
      </details>
    </li>
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
    <Section title="Audit log">
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
                {[...filters.keys()].length > 0 ? 'No entry matches.' : 'Nothing has happened yet.'}
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
            {limit < most && !!next && (
              <button type="button" onClick={() => setLimit(Math.min(limit + pageSize, most))}>
                Show older entries
              </button>
            )}
            <Export filters={filters} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

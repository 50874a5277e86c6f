// The last calls, from the relay's audit log, which survives a restart of the extension.
import { isAudit, isPlugins, type LogEntry } from './answers.generated.ts';
import { useAnswer, useLink, useNow } from './hooks.ts';
import { Badge, Empty, Loaded, Section } from './pieces.tsx';
import { siteOf } from './place.tsx';
import { Avatar, useColors } from './who.tsx';
import {
  actor,
  ago,
  clock,
  duration,
  endingText,
  moment,
  outcomeText,
  toolTitle,
  visible,
  visibleLine,
} from './words.ts';

const most = 10;
const path = `audit?kind=call&limit=${most}`;

interface CallProps {
  entry: LogEntry;
  title: string | null | undefined;
  color: string;
  here: string | undefined; // this profile's name
  now: number;
}

function Finished({ entry, title, color, here, now }: CallProps) {
  const at = moment(entry.at) ?? now;
  const done = entry.outcome === 'returned';
  const who = { agent: entry.agent, client: entry.client || 'unknown client' };
  const facts = [
    actor(who),
    entry.origin && siteOf(entry.origin),
    entry.profile && entry.profile !== here && `profile ${visibleLine(entry.profile)}`,
    ago(at, now),
  ];
  const head = (
    <>
      <Avatar of={who} color={color} />
      <span class="what">
        <span class="line">
          <span class="tool">{toolTitle(entry.tool ?? '', title)}</span>
          <Badge tone={done ? 'good' : 'bad'}>{done ? 'Done' : endingText(entry.code)}</Badge>
        </span>
        <span class="quiet">{facts.filter(Boolean).join(' · ')}</span>
      </span>
    </>
  );
  if (done) return <li class="call">{head}</li>;
  return (
    <li>
      <details>
        <summary class="call">{head}</summary>
        <div class="told">
          <p>{visible(entry.detail || 'The call failed without a message.')}</p>
          <p class="quiet">
            <code>{visibleLine(entry.tool ?? '')}</code>
            {entry.code && (
              <>
                {' '}
                · <code>{visibleLine(entry.code)}</code>
              </>
            )}{' '}
            · {outcomeText(entry.outcome)} · {clock(at, now)}
            {entry.durationMs != null && ` · ${duration(entry.durationMs)}`}
          </p>
        </div>
      </details>
    </li>
  );
}

export function Recent() {
  const answer = useAnswer(path, isAudit);
  const plugins = useAnswer('plugins', isPlugins).value?.plugins ?? [];
  const color = useColors();
  const here = useLink()?.profile.label;
  const now = useNow();
  const titles = new Map(
    plugins.flatMap(({ tools }) => tools.map(({ name, title }) => [name, title] as const)),
  );
  return (
    <Section title="Last calls">
      <Loaded answer={answer} name="the last calls">
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty>No agent has called a tool yet.</Empty>
          ) : (
            <ol class="calls">
              {entries.map((entry) => (
                <Finished
                  key={entry.n}
                  entry={entry}
                  title={titles.get(entry.tool ?? '')}
                  color={color(entry.client ?? '')}
                  here={here}
                  now={now}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
    </Section>
  );
}

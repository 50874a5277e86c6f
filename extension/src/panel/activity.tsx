// What happens now: calls that run, wait or ask; and the last calls of this browser with their end as the agent saw it.
import { isRunning, type RunningCall } from './answers.ts';
import { useAct, useAnswer, useLink, useNow } from './hooks.ts';
import { Badge, Empty, Failed, Loaded, Part, type Tone } from './pieces.tsx';
import type { CallEntry } from './state.ts';
import { actor, clock, duration, moment, span, toolTitle, visible, visibleLine } from './words.ts';

const stages: Record<RunningCall['state'], { tone: Tone; text: string }> = {
  asking: { tone: 'wait', text: 'asks you' },
  queued: { tone: 'plain', text: 'waits' },
  running: { tone: 'good', text: 'runs' },
};

const whereOf = ({ origin, profile }: RunningCall): string =>
  [origin, profile]
    .filter(Boolean)
    .map((part) => visibleLine(part ?? ''))
    .join(' · ');

function Progress({ call }: { call: RunningCall }) {
  const { progress } = call;
  if (progress == null) return null;
  const { total, message } = progress;
  return (
    <div class="progress">
      {message && <p class="quiet">{visibleLine(message)}</p>}
      <progress
        aria-label={`Progress of ${toolTitle(call.tool, call.title)}`}
        max={total && total > 0 ? total : 1}
        {...(total && total > 0 && { value: Math.min(progress.progress, total) })}
      />
    </div>
  );
}

/** The question of a call is asked in the profile that has its tab, and nowhere else. */
const asksElsewhere = ({ state, profileId }: RunningCall, here: string): boolean =>
  state === 'asking' && !!profileId && profileId !== here;

function Running({ call, here, now }: { call: RunningCall; here: string; now: number }) {
  const act = useAct();
  const title = toolTitle(call.tool, call.title);
  const stage = stages[call.state];
  const began = moment(call.began) ?? now;
  return (
    <li class="row running">
      <div class="line">
        <span class="tool">{title}</span>
        <Badge tone={stage.tone}>{asksElsewhere(call, here) ? 'asks in its profile' : stage.text}</Badge>
      </div>
      <div class="line">
        <span class="quiet">
          {actor(call)} · {span(now - began)}
        </span>
        <button
          type="button"
          class="small"
          aria-label={`Cancel ${title} of ${actor(call)}`}
          disabled={act.busy}
          onClick={() => act.run('DELETE', `running/${encodeURIComponent(call.id)}`)}
        >
          Cancel
        </button>
      </div>
      <p class="quiet address">{whereOf(call)}</p>
      <Progress call={call} />
      <Failed act={act} />
    </li>
  );
}

function Finished({ call, now }: { call: CallEntry; now: number }) {
  const tool = call.plugin === '' ? 'resumed call' : `${call.plugin}__${call.tool}`;
  const done = call.outcome === 'returned';
  const head = (
    <>
      <span class="tool">{visibleLine(tool)}</span>
      <Badge tone={done ? 'good' : 'bad'}>{done ? 'done' : visibleLine(call.outcome)}</Badge>
      <span class="quiet when">
        {clock(call.at, now)}
        {call.durationMs !== undefined && ` · ${duration(call.durationMs)}`}
      </span>
    </>
  );
  if (call.error === undefined) {
    return (
      <li class="row">
        <div class="line wrap">{head}</div>
      </li>
    );
  }
  return (
    <li class="row">
      <details>
        <summary class="line wrap">{head}</summary>
        <p class="quiet">What the agent was told:</p>
        <pre>{visible(call.error)}</pre>
      </details>
    </li>
  );
}

/** Calls that run, wait or ask, of every profile. */
function RunningNow({ here }: { here: string }) {
  const running = useAnswer('running', isRunning);
  const now = useNow();
  return (
    <Part title="Running now" count={running.value?.calls.length}>
      <Loaded answer={running} name="calls">
        {({ calls }) =>
          calls.length === 0 ? (
            <Empty>No agent is doing anything right now.</Empty>
          ) : (
            <ul class="rows">
              {calls.map((call) => (
                <Running key={call.id} call={call} here={here} now={now} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}

export function Activity() {
  const link = useLink();
  const now = useNow();
  const finished = link?.calls.filter(({ outcome }) => outcome !== 'running') ?? [];
  return (
    <>
      {link?.link.phase === 'connected' && <RunningNow here={link.profile.id} />}
      <Part title="Last calls in this browser">
        {finished.length === 0 ? (
          <Empty>No agent has called a tool in this browser yet. Calls appear here as they end.</Empty>
        ) : (
          <ol class="rows">
            {finished.map((call) => (
              <Finished key={call.id} call={call} now={now} />
            ))}
          </ol>
        )}
      </Part>
    </>
  );
}

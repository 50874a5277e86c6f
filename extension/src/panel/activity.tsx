// The calls of all profiles that are running, queued, or waiting for an answer.
import { inPanel } from '../capabilities/panel.ts';
import { isRunning, isTabs, type RunningCall, type Tab } from './answers.generated.ts';
import { useAct, useAnswer, useLink, useNow } from './hooks.ts';
import { Empty, Failed, Loaded, Section } from './pieces.tsx';
import { GoToTab, Place } from './place.tsx';
import { saysAll, verbOf } from './verbs.ts';
import { Avatar } from './who.tsx';
import { actor, claim, clock, moment, plural, span, toolTitle, visibleLine } from './words.ts';

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

/** The state of a call. Its question is shown only in the profile that has its tab. */
const stateOf = (call: RunningCall, here: boolean): string =>
  call.state === 'asking' && !here ? 'Waiting for an answer in its profile' : verbOf(call);

function Running({
  call,
  tab,
  here,
  now,
}: {
  call: RunningCall;
  tab: Tab | undefined;
  here: boolean;
  now: number;
}) {
  const act = useAct();
  const title = toolTitle(call.tool, call.title);
  const began = moment(call.began) ?? now;
  const waits = call.state !== 'running';
  const attached = moment(call.attached);
  const sender = [
    call.called && claim(call),
    attached !== undefined && `connected since ${clock(attached, now)}`,
  ]
    .filter(Boolean)
    .join(' · ');
  return (
    <li class={`acting ${call.state}`}>
      <Avatar of={call} color={call.color ?? ''} />
      <div class="what">
        <div class="line">
          <span class="tool">{actor(call)}</span>
          <span class="quiet time">{span(now - began)}</span>
        </div>
        <p>
          <span class="verb">{stateOf(call, here)}</span>
          {(waits || !saysAll(call)) && ` · ${title}`}
          {call.state === 'queued' && call.ahead ? ` · ${plural(call.ahead, 'call')} ahead` : ''}
        </p>
        {sender && <p class="quiet">{sender}</p>}
        <Place origin={call.origin ?? ''} tab={tab} profile={here ? undefined : call.profile} />
        <Progress call={call} />
        <div class="row-buttons">
          {here && call.tabId ? <GoToTab tabId={call.tabId} name={`${title} of ${actor(call)}`} /> : null}
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
        <Failed act={act} />
      </div>
    </li>
  );
}

export function Activity() {
  const running = useAnswer('running', isRunning);
  const tabs = useAnswer('tabs', isTabs).value?.tabs ?? [];
  const profile = useLink()?.profile.id;
  const now = useNow();
  const tabOf = (call: RunningCall) =>
    tabs.find(({ tabId, profileId }) => tabId === call.tabId && profileId === call.profileId);
  return (
    <Section title="Acting now" count={running.value?.calls.length}>
      <Loaded answer={running} name="calls">
        {({ calls }) => (
          <>
            {inPanel.map(
              ({ Acting }) => Acting && <Acting key={Acting.name} tabs={tabs} profile={profile} now={now} />,
            )}
            {calls.length === 0 ? (
              <Empty>No agent is doing anything.</Empty>
            ) : (
              <ul class="actors">
                {calls.map((call) => (
                  <Running
                    key={call.id}
                    call={call}
                    tab={tabOf(call)}
                    here={!call.profileId || call.profileId === profile}
                    now={now}
                  />
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

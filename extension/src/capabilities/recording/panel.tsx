// Recordings of tabs that run: who records, which tab, how much was seen, and the way to end each.
import type { Tab } from '../../panel/answers.generated.ts';
import type { ActingProps, Capability } from '../../panel/capability.ts';
import { useAct, useAnswer } from '../../panel/hooks.ts';
import { Failed } from '../../panel/pieces.tsx';
import { GoToTab, Place } from '../../panel/place.tsx';
import { Avatar } from '../../panel/who.tsx';
import { actor, moment, plural, span } from '../../panel/words.ts';
import { isRecordings, type Recording as Running } from './answers.generated.ts';

function Recordings({ tabs, profile, now }: ActingProps) {
  const list = useAnswer('recordings', isRecordings).value?.recordings ?? [];
  if (list.length === 0) return null;
  return (
    <ul class="actors" aria-label="Recordings">
      {list.map((one) => {
        const tab = tabs.find(({ tabId, profileId }) => tabId === one.tabId && profileId === one.profileId);
        return (
          <Recording
            key={`${one.profileId} ${one.tabId}`}
            of={one}
            tab={tab}
            here={one.profileId === profile}
            now={now}
          />
        );
      })}
    </ul>
  );
}

function Recording({
  of,
  tab,
  here,
  now,
}: {
  of: Running;
  tab: Tab | undefined;
  here: boolean;
  now: number;
}) {
  const act = useAct();
  const where = `recordings/${encodeURIComponent(of.profileId)}/${of.tabId}`;
  return (
    <li class="acting running recording">
      <Avatar of={of} color="" />
      <div class="what">
        <div class="line">
          <span class="tool">{actor(of)}</span>
          <span class="quiet time">{span(now - (moment(of.began) ?? now))}</span>
        </div>
        <p>
          <span class="verb">Records this tab</span> · {plural(of.requests, 'request')} seen
        </p>
        <Place origin={of.origin} tab={tab} profile={here ? undefined : of.profile} />
        <p class="quiet">
          When the recording ends, a draft of a plugin is made from it. It is kept nowhere else.
        </p>
        <div class="row-buttons">
          {here ? <GoToTab tabId={of.tabId} name="the tab that is recorded" /> : null}
          <button
            type="button"
            class="small"
            aria-label={`Stop recording ${of.origin}`}
            disabled={act.busy}
            onClick={() => act.run('DELETE', where)}
          >
            Stop recording
          </button>
        </div>
        <Failed act={act} />
      </div>
    </li>
  );
}

export const recording: Capability = { Acting: Recordings };

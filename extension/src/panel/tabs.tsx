// The tabs that agents own. A tab belongs to the agent that wrote to it, until it is idle or the person takes it.
import { isTabs, type Tab } from './answers.generated.ts';
import { useAct, useAnswer, useLink, useNow } from './hooks.ts';
import { Empty, Failed, Loaded, Section } from './pieces.tsx';
import { GoToTab, Place } from './place.tsx';
import { Avatar, useColors } from './who.tsx';
import { actor, ago, moment, plural, visibleLine } from './words.ts';

interface UsedProps {
  tab: Tab;
  color: string;
  here: boolean;
  now: number;
}

const originOf = (url: string): string => /^[a-z]+:\/\/[^/]*/.exec(url)?.[0] ?? url;

function Used({ tab, color, here, now }: UsedProps) {
  const act = useAct();
  const title = visibleLine(tab.title || tab.url);
  const since = moment(tab.owner?.since);
  const path = `tabs/${encodeURIComponent(tab.profileId)}/${tab.tabId}/owner`;
  return (
    <li class="acting">
      <Avatar of={tab.owner ?? { client: '–' }} color={color} />
      <div class="what">
        <div class="line">
          <span class="tool">{tab.owner == null ? 'No owner' : actor(tab.owner)}</span>
          <span class="quiet time">
            {tab.acting === true ? 'acting' : since !== undefined && `since ${ago(since, now)}`}
          </span>
        </div>
        <Place origin={originOf(tab.url)} tab={tab} profile={here ? undefined : tab.profile} />
        <div class="row-buttons">
          {here && <GoToTab tabId={tab.tabId} name={title} />}
          {tab.owner != null && (
            <button
              type="button"
              class="small"
              aria-label={`Release ${title}`}
              disabled={act.busy}
              onClick={() => act.run('DELETE', path)}
            >
              Release
            </button>
          )}
        </div>
        <Failed act={act} />
      </div>
    </li>
  );
}

export function Tabs() {
  const answer = useAnswer('tabs', isTabs);
  const profile = useLink()?.profile.id;
  const color = useColors();
  const now = useNow();
  return (
    <Section title="Tabs in use">
      <Loaded answer={answer} name="tabs">
        {({ tabs }) => {
          const used = tabs.filter((tab) => tab.owner != null || tab.acting === true);
          const free = tabs.length - used.length;
          return (
            <>
              {used.length > 0 && (
                <ul class="actors">
                  {used.map((tab) => (
                    <Used
                      key={`${tab.profileId}/${tab.tabId}`}
                      tab={tab}
                      color={color(tab.owner?.client ?? '')}
                      here={tab.profileId === profile}
                      now={now}
                    />
                  ))}
                </ul>
              )}
              <Empty>
                {used.length === 0 ? 'No tabs in use. ' : ''}
                {free > 0 &&
                  `${plural(free, used.length === 0 ? 'tab' : 'other tab')} open, free for every agent.`}
              </Empty>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

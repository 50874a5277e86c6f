// Which tabs an agent works in. A tab belongs to the agent that wrote to it, until it is idle or the person takes it.
import { isTabs, type Tab } from './answers.ts';
import { useAct, useAnswer, useNow } from './hooks.ts';
import { Badge, Empty, Failed, Loaded, Part } from './pieces.tsx';
import { actor, ago, moment, plural, visibleLine } from './words.ts';

function Owned({ tab, now }: { tab: Tab; now: number }) {
  const act = useAct();
  const title = visibleLine(tab.title || tab.url);
  const since = moment(tab.owner?.since);
  const path = `tabs/${encodeURIComponent(tab.profileId)}/${tab.tabId}/owner`;
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{title}</span>
        {tab.acting === true && <Badge tone="good">acting</Badge>}
      </div>
      <p class="quiet address">{visibleLine(tab.url)}</p>
      <div class="line">
        <span class="quiet">
          {tab.owner == null
            ? 'no owner'
            : `${actor(tab.owner)}${since === undefined ? '' : `, since ${ago(since, now)}`}`}
          {tab.profile && ` · ${visibleLine(tab.profile)}`}
        </span>
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
    </li>
  );
}

export function Tabs() {
  const answer = useAnswer('tabs', isTabs);
  const now = useNow();
  return (
    <Part title="Tabs in use">
      <Loaded answer={answer} name="tabs">
        {({ tabs }) => {
          const used = tabs.filter((tab) => tab.owner != null || tab.acting === true);
          return (
            <>
              {used.length > 0 && (
                <ul class="rows">
                  {used.map((tab) => (
                    <Owned key={`${tab.profileId}/${tab.tabId}`} tab={tab} now={now} />
                  ))}
                </ul>
              )}
              <Empty>
                {used.length === 0 ? 'No tabs in use. ' : ''}
                {tabs.length - used.length > 0 &&
                  `${plural(tabs.length - used.length, used.length === 0 ? 'tab' : 'other tab')} open, free for every agent.`}
              </Empty>
            </>
          );
        }}
      </Loaded>
    </Part>
  );
}

// The whole panel: header, questions, and pages with tabs. The open page is in the address, so that a reload keeps it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { inPanel } from '../capabilities/panel.ts';
import { Activity } from './activity.tsx';
import { Announcer } from './announcer.tsx';
import { isReviews } from './answers.generated.ts';
import { Changes } from './changes.tsx';
import { Clients } from './clients.tsx';
import { Header, Notices, PausedNotice } from './header.tsx';
import { useAnswer, useLink } from './hooks.ts';
import { Log } from './log.tsx';
import { NotificationOffer } from './needed.tsx';
import { Empty } from './pieces.tsx';
import { Plugins } from './plugins.tsx';
import { PluginSettings } from './pluginsettings.tsx';
import { Questions } from './questions.tsx';
import { Recent } from './recent.tsx';
import { ReviewPage } from './review.tsx';
import { Rules } from './rules.tsx';
import { Settings } from './settings.tsx';
import { SetUp } from './setup.tsx';
import { Still } from './still.tsx';
import { Tabs } from './tabs.tsx';
import { UserScriptsOffer } from './user-scripts.tsx';

/** The pages with tabs, in order. Those of capabilities come before the log. */
const pages: readonly { id: string; title: string; useListed?(): boolean }[] = [
  { id: 'now', title: 'Now' },
  { id: 'plugins', title: 'Plugins' },
  { id: 'rules', title: 'Rules' },
  { id: 'clients', title: 'Clients' },
  ...inPanel.flatMap(({ page }) => page ?? []),
  { id: 'log', title: 'Log' },
];

/** The pages without a tab. */
const apart = ['settings', 'setup'];

interface Place {
  page: string; // settings, setup, or the id of a page with a tab
  plugin: string; // whose settings or review is open; empty for none
  part: string; // of that plugin: settings; else its review
}

function readPlace(): Place {
  const [name = '', plugin = '', part = ''] = location.hash.slice(1).split('/');
  const page = apart.includes(name) || pages.some(({ id }) => id === name) ? name : 'now';
  return { page, plugin: decodeURIComponent(plugin), part };
}

type Go = (page: string, plugin?: string, part?: string) => void;

function usePlace(): [Place, Go] {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const follow = () => setPlace(readPlace());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const go: Go = (page, plugin = '', part = '') => {
    location.hash = [page, encodeURIComponent(plugin), part].filter(Boolean).join('/');
  };
  return [place, go];
}

/** The index of the tab that a key moves focus to, from the index of the focused one and the number of tabs. */
const moves: Record<string, (index: number, count: number) => number> = {
  ArrowRight: (index) => index + 1,
  ArrowLeft: (index, count) => index - 1 + count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The pages whose tabs are shown; the open one always is. Pages are constant, so the order of hooks is, too. */
const useListed = (open: string) =>
  pages.filter(({ id, useListed: useOne }) => {
    const listed = useOne?.() ?? true;
    return listed || id === open;
  });

function TabBar({ page, reviews, onGo }: { page: string; reviews: number; onGo: (page: string) => void }) {
  const listed = useListed(page);
  const at = page === 'settings' ? 0 : listed.findIndex(({ id }) => id === page);
  const buttons = useRef(new Map<string, HTMLButtonElement>());
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    // Counts from the focused tab: the page of the last key press may not be open yet.
    const from = listed.findIndex(({ id }) => buttons.current.get(id) === event.target);
    const next = listed[move(from, listed.length) % listed.length]?.id ?? 'now';
    buttons.current.get(next)?.focus();
    onGo(next);
  };
  return (
    <div class="tabs" role="tablist" aria-label="Pages of this panel" onKeyDown={onKeyDown}>
      {listed.map(({ id, title }, index) => (
        <button
          key={id}
          ref={(button) => {
            if (button !== null) buttons.current.set(id, button);
          }}
          type="button"
          role="tab"
          id={`tab-${id}`}
          aria-selected={id === page}
          aria-controls="page"
          tabIndex={index === at ? 0 : -1}
          onClick={() => onGo(id)}
        >
          {title}
          {id === 'plugins' && reviews > 0 && (
            <span class="count">
              {reviews}
              <span class="unseen"> to review</span>
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

/** Goes back from a plugin to its list, and focuses the tab of that page, since what had focus is gone. */
function back(onGo: (page: string) => void): void {
  onGo('plugins');
  document.getElementById('tab-plugins')?.focus();
}

function Shown({ place, onGo }: { place: Place; onGo: Go }) {
  switch (place.page) {
    case 'plugins':
      if (place.part === 'settings')
        return <PluginSettings key={place.plugin} plugin={place.plugin} onBack={() => back(onGo)} />;
      if (place.plugin !== '') return <ReviewPage plugin={place.plugin} onBack={() => back(onGo)} />;
      return (
        <Plugins
          onReview={(name) => onGo('plugins', name)}
          onSettings={(name) => onGo('plugins', name, 'settings')}
        />
      );
    case 'rules':
      return <Rules />;
    case 'clients':
      return <Clients />;
    case 'log':
      return <Log />;
    case 'now':
      return (
        <>
          {inPanel.map(({ AboveActing }) => AboveActing && <AboveActing key={AboveActing.name} />)}
          <Activity />
          <Recent />
          <Tabs />
        </>
      );
  }
  const Attached = inPanel.find(({ page }) => page?.id === place.page)?.page?.Page;
  return Attached === undefined ? null : <Attached />;
}

const waitingFor = (phase: string | undefined): string =>
  phase === undefined || phase === 'connecting'
    ? 'Connecting …'
    : 'There is no connection to tabrelay. What is here is shown as soon as there is one.';

export function App() {
  const [place, go] = usePlace();
  const phase = useLink()?.link.phase;
  const reviews = useAnswer('reviews', isReviews).value?.reviews.length ?? 0;
  const settings = place.page === 'settings';
  const header = <Header settings={settings} onSettings={() => go(settings ? 'now' : 'settings')} />;
  if (place.page === 'setup')
    return (
      <>
        {header}
        <main>
          <Still>
            <PausedNotice />
            <Questions />
          </Still>
          <SetUp />
        </main>
        <Announcer />
      </>
    );
  return (
    <>
      {header}
      <main>
        <Still>
          <Notices />
          <Changes />
          <Questions />
        </Still>
        {inPanel.map(({ Asking }) => Asking && <Asking key={Asking.name} />)}
        <NotificationOffer />
        <UserScriptsOffer />
        <TabBar page={place.page} reviews={reviews} onGo={go} />
        {settings ? (
          <section id="page" aria-labelledby="open-settings">
            <Settings />
          </section>
        ) : (
          <div id="page" role="tabpanel" aria-labelledby={`tab-${place.page}`}>
            {phase === 'connected' ? <Shown place={place} onGo={go} /> : <Empty>{waitingFor(phase)}</Empty>}
          </div>
        )}
      </main>
      <Announcer />
    </>
  );
}

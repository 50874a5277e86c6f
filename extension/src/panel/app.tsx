// The panel as a whole: what is always in view, the questions, and pages behind tabs. The page that is open is in
// the address, so that it is the same one after a reload.
import { useEffect, useRef, useState } from 'preact/hooks';
import { inPanel } from '../capabilities/panel.ts';
import { Activity } from './activity.tsx';
import { Announcer } from './announcer.tsx';
import { isReviews } from './answers.generated.ts';
import { Changes } from './changes.tsx';
import { Clients } from './clients.tsx';
import { Header, Notices } from './header.tsx';
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
import { Tabs } from './tabs.tsx';
import { UserScriptsOffer } from './user-scripts.tsx';

/** The pages behind tabs, in their order. Those of capabilities stand before the log. */
const pages: readonly { id: string; title: string; useListed?(): boolean }[] = [
  { id: 'now', title: 'Now' },
  { id: 'plugins', title: 'Plugins' },
  { id: 'rules', title: 'Rules' },
  { id: 'clients', title: 'Clients' },
  ...inPanel.flatMap(({ page }) => page ?? []),
  { id: 'log', title: 'Log' },
];

interface Place {
  page: string; // settings, or the id of a page behind a tab
  plugin: string; // that is looked at; empty for none
  part: string; // of its pages: settings, else its review
}

function readPlace(): Place {
  const [name = '', plugin = '', part = ''] = location.hash.slice(1).split('/');
  const page = name === 'settings' || pages.some(({ id }) => id === name) ? name : 'now';
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

/** Which tab a key goes to: the index of the one that has focus, and how many there are. */
const moves: Record<string, (index: number, count: number) => number> = {
  ArrowRight: (index) => index + 1,
  ArrowLeft: (index, count) => index - 1 + count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The pages that are listed; the open one always is. The list never changes, so neither do the hooks. */
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
    // From the tab that has focus, because the page of the key before may not be open yet.
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

/** Back from a plugin. What had focus is gone; the tab of the page is where a person goes on. */
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
  return (
    <>
      <Header settings={settings} onSettings={() => go(settings ? 'now' : 'settings')} />
      <main>
        <Notices />
        <Changes />
        <Questions />
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

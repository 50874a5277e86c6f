// The service worker. Chrome may end it at any moment and starts it again for an event, so every listener is added
// here, in the first turn, and what must survive is in calls/records.ts or in a bridge.

import { Acts } from '../capabilities/browser/acts.ts';
import { findingIn, lookingAt, reading } from '../capabilities/browser/looking.ts';
import { closing, navigating } from '../capabilities/browser/moving.ts';
import { performing } from '../capabilities/browser/performing.ts';
import { picturing } from '../capabilities/browser/picture.ts';
import { clicking } from '../capabilities/browser/trusted.ts';
import { waitingIn } from '../capabilities/browser/waiting.ts';
import { cookies } from '../capabilities/devtools/cookies.ts';
import { downloads } from '../capabilities/devtools/downloads.ts';
import { DevNetwork, watchingNetwork } from '../capabilities/devtools/network.ts';
import { DevPages, evaluating, inDocument, readingConsole } from '../capabilities/devtools/pages.ts';
import { emulating, printing } from '../capabilities/devtools/trusted.ts';
import { Recorder } from '../capabilities/recording/recorder.ts';
import { Consoles } from '../capabilities/resources/consoles.ts';
import { PageTools } from '../capabilities/webmcp/pagetools.ts';
import type { FromExtension } from '../protocol/frames.generated.ts';
import { urlAllowed } from '../shared/patterns.ts';
import { bundleHash } from './bundle.ts';
import { Conductor, type Parts as ConductorParts, type Performer } from './calls/conductor.ts';
import { letGo } from './calls/debugger.ts';
import { Documents } from './calls/documents.ts';
import { showAgain } from './calls/hiding.ts';
import { Departures, Inflight } from './calls/inflight.ts';
import { Invocations } from './calls/invoke.ts';
import { Outcomes, Records } from './calls/records.ts';
import { Recovery } from './calls/recover.ts';
import { type Reply, runCommand } from './commands.ts';
import { Bridges } from './documents/bridges.ts';
import { Injector } from './documents/inject.ts';
import { awaitedIn, Plugins } from './documents/plugins.ts';
import { Reach } from './documents/reach.ts';
import { References } from './documents/references.ts';
import { type FrameOf, followedFrame, frameText, router } from './link/frames.ts';
import type { Identity } from './link/greeting.ts';
import { isWaker, Keepalive } from './link/keepalive.ts';
import { dialSocket, Link } from './link/link.ts';
import { Paired } from './link/paired.ts';
import { exchange, keepPairing, Pairer } from './link/pairing.ts';
import { chromeVersion, freshProfile, type Profile, readProfile, renameProfile } from './link/profile.ts';
import { Requests, withPanel } from './link/requests.ts';
import { Attention, openPanel } from './person/attention.ts';
import { Marks } from './person/marks.ts';
import { Panels } from './person/panels.ts';
import { forgetRules } from './tabs/border.ts';
import { Groups, type Wanted } from './tabs/groups.ts';
import { Tabs } from './tabs/tabs.ts';

const alarmName = 'redial';

const records = new Records(chrome.storage.session);
const reach = new Reach(chrome.storage.session);
const panels = new Panels({
  state: () => ({
    link: link.state,
    bundle: bundleHash,
    profile,
    marks: marks.on,
    paired: paired.state,
    pairing: pairer.state,
  }),
  dial: (forced) => link.dial(forced),
  ask: (method, path, body) => requests.ask(method, path, body),
  counted(open) {
    attention.panels();
    if (link.protocol >= withPanel) send({ type: 'panels', open });
  },
  marks: (on) => marks.set(on),
  name(label) {
    renameProfile(label).then((named) => {
      if (named === undefined) return;
      know(named);
      if (link.protocol >= withPanel) send({ type: 'profile', label: named.label });
    });
  },
  pair: (text) => void pairer.take(text),
  async paired(on) {
    await paired.end(!on);
    link.redial();
    if (!on) await installPlugins([]); // nothing of the plugins stays in pages
  },
});
let profile: Profile = { id: '', label: '' };
const know = (read: Profile): Profile => {
  profile = read;
  panels.changed();
  return read;
};
async function identity(): Promise<Identity> {
  await records.loaded;
  return {
    extension: chrome.runtime.getManifest().version,
    extensionId: chrome.runtime.id,
    bundle: bundleHash,
    epoch: records.epoch,
    profile: know(await readProfile()),
    chrome: chromeVersion(),
  };
}

const paired = new Paired(() => panels.changed());
const pairer = new Pairer({
  exchange: async (pasted) => exchange(await identity(), pasted, dialSocket),
  async keep(pairing) {
    await paired.end(false);
    return keepPairing(pairing);
  },
  paired: () => link.dial(true),
  changed: () => panels.changed(),
});
const marks = new Marks(() => panels.changed());
const attention = new Attention({
  panelsOpen: () => panels.open,
  ask: (method, path, body) => requests.ask(method, path, body),
  open(question) {
    openPanel(tabs.lastWindow);
    if (question !== undefined) panels.show(question);
  },
});

const link = new Link(
  {
    identity,
    pairing: () => paired.read(),
    opened(welcome) {
      void paired.proved();
      void greet(welcome);
    },
    frame: router({
      call: (frame, payload) => invocations.start(frame, payload),
      cancel: ({ id }) => invocations.cancel(id),
      ack: ({ ids }) => outcomes.acknowledge(ids),
      ask: ({ calls }) => void recovery.answer(calls),
      plugins: ({ plugins: list }) => void installPlugins(list),
      command: ({ id, name, params }) => {
        runCommand(name, params, browser).then((reply) => link.sendText(replyText(id, reply)));
      },
      response: (frame, payload) => requests.hear(frame, payload),
      news: ({ topics, waiting }) => {
        panels.tell(topics, waiting);
        if (topics.includes('paused')) void attention.lookPaused();
        marks.waiting(waiting);
        attention.waiting(waiting);
      },
    }),
    changed: ({ phase }) => {
      if (phase !== 'connected') for (const one of [requests, recorder]) one.lost();
      keepalive.changed();
      if (phase === 'stopped' || phase === 'waiting' || phase === 'unpaired') attention.waiting(0);
      panels.changed();
    },
    freshProfile: async () => void (await freshProfile()),
  },
  dialSocket,
);

const requests = new Requests(link);
const send = (frame: FromExtension): void => void link.send(frame);
const outcomes = new Outcomes(records, (text) => link.sendText(text));
const plugins = new Plugins((message) => send({ type: 'notice', level: 'error', message }));

const tabs = new Tabs({
  changed: (tab) => send({ type: 'tab', tab }),
  closed: (tabId, became) => send({ type: 'tabclosed', tabId, ...(became !== undefined && { became }) }),
  removed: (tabId) => {
    departures.tabRemoved(tabId);
    references.forget(tabId);
    pageTools.removed(tabId);
    consoles.removed(tabId);
    recorder.removed(tabId);
  },
  loading: (tabId) => departures.tabLoading(tabId),
  frozen: (tabId) => invocations.standsStill(tabId),
});

const bridges = new Bridges(
  {
    reached: ({ tabId, frameId, documentId }) => reach.reached(tabId, frameId, documentId),
    message(bridge, message) {
      if (message.type === 'registered') return plugins.retireIn(bridge);
      if (message.type === 'hello' || message.type === 'lateReady') return;
      if (message.type === 'consoleLines' || message.type === 'consoleGrew')
        return consoles.hear(bridge, message);
      if (message.type === 'tools') return pageTools.hear(bridge, message.text);
      if (message.type === 'recorded') return recorder.hear(bridge, message.told);
      if (message.type === 'followed') {
        const frame = followedFrame(message);
        if (frame !== undefined) send(frame);
        return;
      }
      if (message.type === 'dialog') {
        invocations.standsStill(bridge.tabId);
        return;
      }
      if (message.type === 'act') return acts.begin(bridge, message.number, message.answer);
      if (message.type === 'pause')
        return void setTimeout(() => bridge.send({ type: 'paused', number: message.number }), message.ms);
      if (message.type === 'touched') return acts.touched(bridge, message.on);
      if (message.type === 'requests') return void acts.asked(bridge, message.number);
      if (message.type === 'acted') return void acts.end(bridge, message.number);
      if (message.type === 'answered') return acts.answered(bridge, message.dialog);
      if (message.type === 'known') recovery.known(message.id);
      if (invocations.hear(bridge, message) || message.type !== 'outcome') return;
      records.loaded.then(() => recovery.unexpected(bridge, message));
    },
    ready: (bridge) => {
      tabs.runs(bridge.tabId);
      plugins.retireIn(bridge);
      consoles.ready(bridge);
      recorder.ready(bridge);
      keepalive.changed();
    },
    gone: (bridge) => {
      conductor.gone(bridge);
      departures.bridgeGone(bridge);
      if (bridge.frameId === 0) tabs.look(bridge.tabId);
      consoles.gone(bridge);
      acts.gone(bridge);
      pageTools.gone(bridge);
      keepalive.changed();
    },
  },
  records,
);

const acts = new Acts(bridges);
const keepalive = new Keepalive(() => link.connected && bridges.none);
const inflight = new Inflight(outcomes, records, marks);
const departures = new Departures(inflight);
const injector = new Injector(bridges);
const pageTools = new PageTools({
  tabs,
  bridges,
  injector,
  plugins,
  send: (tabId, documents) => link.sendText(frameText({ type: 'pagetools', tabId }, documents)),
});
const groups = new Groups(chrome.storage.session);
const consoles = new Consoles({ bridges, injector, store: chrome.storage.session, send });
const recorder = new Recorder({ bridges, injector });
const browser = {
  recorder,
  shown: (tabId: number, waitMs: number) => tabs.shown(tabId, waitMs),
  get: (tabId: number) => tabs.get(tabId),
  standstill: (tabId: number) => invocations.standstill(tabId),
  frames: {
    covers(url: string) {
      const own = plugins.get('browser');
      return own === undefined || urlAllowed(url, own.matches, own.excludes);
    },
    origin: (documentId: string) => bridges.all().find((one) => one.documentId === documentId)?.origin,
  },
  readConsole: (tabId: number, holdMs: number) => consoles.read(tabId, holdMs),
  group: (wanted: readonly Wanted[]) => groups.show(wanted),
  followTools: (tabIds: readonly number[]) => pageTools.follow(tabIds),
  async reinject(tabId: number, name: string) {
    const plugin = plugins.get(name);
    if (plugin === undefined) throw new Error(`There is no plugin ${name}`);
    await injector.again(await injector.bridge(tabId), plugin);
  },
};
const references = new References(chrome.storage.session);
const conducting: ConductorParts = {
  tabs,
  bridges,
  injector,
  records,
  inflight,
  references,
  acting: (frame) => marks.acting(frame),
  touched: (tabId) => pageTools.follow([tabId]),
  send,
};
const documents = new Documents(conducting);
void forgetRules();
showAgain();
const lookAt = lookingAt(documents);
const devPages = new DevPages(documents);
const perform = performing(
  documents,
  async (stage) => {
    const [whole] = (await lookAt(stage, { full: true })).content;
    return whole?.type === 'text' ? whole.text : '';
  },
  acts,
);
const conductor = new Conductor(
  conducting,
  new Map<string, Performer>([
    ['snapshot', (stage) => lookAt(stage)],
    ['find', findingIn(documents)],
    ['read', reading(documents)],
    ['screenshot', picturing(documents)],
    ['wait', waitingIn(documents)],
    ['navigate', navigating(tabs)],
    ['close_tab', closing],
    ['click', clicking(perform, documents)],
    ['console', readingConsole(devPages)],
    ['network', watchingNetwork(new DevNetwork(), devPages)],
    ['evaluate', evaluating(devPages)],
    ['pdf', printing(documents)],
    ['emulate', emulating],
    ['storage', inDocument(devPages, false)],
    ['cookies', cookies],
    ['downloads', downloads],
    ['performance', inDocument(devPages, false)],
    ['page_tool', pageTools.perform],
  ]),
  perform,
);
const invocations = new Invocations({
  tabs,
  plugins,
  bridges,
  injector,
  records,
  inflight,
  departures,
  conductor,
  acting: (frame) => marks.acting(frame),
  send,
});
const recovery = new Recovery({ bridges, records, outcomes, inflight, invocations, send });
void letGo();

function replyText(id: string, reply: Reply): string {
  if ('payload' in reply) return frameText({ type: 'reply', id, ok: true }, reply.payload);
  return frameText({ type: 'reply', id, ...reply });
}

async function greet(welcome: FrameOf<'welcome'>): Promise<void> {
  pageTools.off = welcome.pageToolsOff === true;
  invocations.startMs = welcome.startMs ?? invocations.startMs; // older relays do not say
  conductor.startMs = invocations.startMs;
  injector.patienceMs = invocations.startMs / 2; // what a call prepares has to be ready before
  await tabs.loaded;
  outcomes.sendAgain();
  if (link.protocol >= withPanel) {
    send({ type: 'panels', open: panels.open });
    void attention.lookPaused();
  }
  send({ type: 'tabs', tabs: tabs.all() });
  pageTools.tellAll();
  if (!(await chrome.permissions.contains({ origins: ['<all_urls>'] }))) {
    const message =
      'The extension may not read all sites: allow it under "Site access" in chrome://extensions';
    send({ type: 'notice', level: 'warning', message });
  }
  await renew(welcome.bundle);
}

// The relay has newer files than the ones that run here. Once for each bundle: a folder that the relay cannot
// write must not make us reload for ever.
async function renew(bundle: string): Promise<void> {
  if (bundle === bundleHash) return;
  if (inflight.size > 0) {
    setTimeout(() => renew(bundle), 1000);
    return;
  }
  const { renewedFor } = await chrome.storage.local.get('renewedFor');
  if (renewedFor === bundle) return;
  await chrome.storage.local.set({ renewedFor: bundle });
  chrome.runtime.reload();
}

async function installPlugins(list: FrameOf<'plugins'>['plugins']): Promise<void> {
  const replaced = plugins.replace(list);
  for (const bridge of bridges.all()) plugins.retireIn(bridge);
  await replaced;
  await tabs.loaded;
  // Documents that were open before get their bridge now: it is what wakes this worker when it dies.
  for (const tab of tabs.all()) {
    const served = plugins.all().some((plugin) => urlAllowed(tab.url, awaitedIn(plugin), plugin.excludes));
    if (!served || tab.discarded || bridges.top(tab.id) !== undefined) continue;
    injector.bridge(tab.id).catch(() => {}); // a call to that tab will say why
  }
}

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === 'panel') panels.add(port);
  else if (!isWaker(port)) bridges.add(port);
});
chrome.alarms.onAlarm.addListener(() => link.dial());
chrome.runtime.onStartup.addListener(() => link.dial());
chrome.runtime.onInstalled.addListener(() => link.dial(true));
chrome.alarms.create(alarmName, { periodInMinutes: 0.5 });
// Plugins share a world with the bridge, and what a frame of theirs has of the extension's interfaces is not for them.
for (const area of [chrome.storage.local, chrome.storage.sync, chrome.storage.session])
  area.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
link.dial();

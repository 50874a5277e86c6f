// The service worker. Chrome may end it at any moment and starts it again for an event, so every listener is added
// here, in the first turn, and what must survive is in calls/records.ts or in a bridge.
//
// Each object is made of those above it. What it gets from those below it comes as events, whose listeners are set
// once, at the end.

import { inWorker } from '../capabilities/worker.ts';
import type { FromExtension } from '../protocol/frames.generated.ts';
import { isManaged } from '../shared/managed.ts';
import { bundleHash } from './bundle.ts';
import { requireAwake, whyBlocked } from './calls/blocked.ts';
import { uncoverLeftovers } from './calls/cover.ts';
import { detachLeftovers } from './calls/debugger.ts';
import { Documents } from './calls/documents.ts';
import { Departures, Inflight } from './calls/inflight.ts';
import { Invocations } from './calls/invoke.ts';
import { Outcomes, Records } from './calls/records.ts';
import { Recovery } from './calls/recover.ts';
import { type Parts as ConductorParts, ToolRunner } from './calls/tool-runner.ts';
import { Capabilities } from './core/capability.ts';
import { commandsOf, type Reply, runCommand } from './core/commands.ts';
import { addedCode } from './documents/added.ts';
import { Bridges } from './documents/bridges.ts';
import { Injector } from './documents/inject.ts';
import { install } from './documents/installing.ts';
import { Plugins } from './documents/plugins.ts';
import { Reach } from './documents/reach.ts';
import { References } from './documents/references.ts';
import { type FrameOf, followedFrame, frameText, router } from './link/frames.ts';
import type { Identity } from './link/greeting.ts';
import { isWaker, Keepalive } from './link/keepalive.ts';
import { dialSocket, Link } from './link/link.ts';
import { NativeHost } from './link/native-host.ts';
import { Paired } from './link/paired.ts';
import { exchange, keepPairing, Pairer } from './link/pairing.ts';
import { chromeVersion, freshProfile, OwnProfile } from './link/profile.ts';
import { Requests, withPanel } from './link/requests.ts';
import { Attention, openPanel } from './person/attention.ts';
import { openFirstPage } from './person/first-page.ts';
import { Marks } from './person/marks.ts';
import { Panels } from './person/panels.ts';
import { forgetRules } from './tabs/border.ts';
import { Groups } from './tabs/groups.ts';
import { Tabs } from './tabs/tabs.ts';
import { updateTo } from './update.ts';

const alarmName = 'redial';

// State that outlives this worker.
const records = new Records(chrome.storage.session);
const reach = new Reach(chrome.storage.session);
const references = new References(chrome.storage.session);
const groups = new Groups(chrome.storage.session);

// What the person sees.
const panels = new Panels();
const changed = () => panels.changed();
const marks = new Marks(changed);

// The link to the relay.
const profile = new OwnProfile(changed);
const program = new NativeHost(changed);
const paired = new Paired(changed, program);
const identity = async (): Promise<Identity> => {
  await records.loaded;
  return {
    extension: chrome.runtime.getManifest().version,
    extensionId: chrome.runtime.id,
    bundle: bundleHash,
    epoch: records.epoch,
    profile: await profile.read(),
    chrome: chromeVersion(),
    ...((await isManaged()) && { managed: true as const }),
  };
};
const link = new Link({ identity, pairing: () => paired.read(), freshProfile }, dialSocket);
const send = (frame: FromExtension, payload?: string): void => {
  link.sendText(frameText(frame, payload));
};
const requests = new Requests(link);
const outcomes = new Outcomes(records, (text) => link.sendText(text));
const pairer = new Pairer({
  exchange: async (pasted) => exchange(await identity(), pasted, dialSocket),
  async keep(pairing) {
    await paired.end(false);
    return keepPairing(pairing);
  },
  paired: () => link.dial(true),
  changed,
});

// The tabs, and the documents in them.
const tabs = new Tabs();
const bridges = new Bridges(records, reach);
const problem = (message: string) => send({ type: 'notice', level: 'error', message });
const added = addedCode({ ask: (method, path, body) => requests.ask(method, path, body), problem });
const injector = new Injector(bridges, added);
const plugins = new Plugins(problem, added);
const documents = new Documents({ bridges, injector, references });
const blockedReason = (tabId: number) => whyBlocked(tabId, bridges, tabs);

// Capabilities.
const capabilities = new Capabilities(inWorker, {
  tabs,
  bridges,
  injector,
  plugins,
  documents,
  requireAwake: (tabId) => requireAwake(tabId, tabs, blockedReason),
  ask: (method, path) => requests.ask(method, path),
  panelsOpen: () => panels.open,
  send,
});

// Calls.
const inflight = new Inflight(outcomes, records, marks);
const departures = new Departures(inflight);
const conducting: ConductorParts = {
  tabs,
  bridges,
  injector,
  records,
  inflight,
  references,
  acting: (frame) => marks.acting(frame),
  touched: (tabId) => capabilities.called(tabId),
  send,
};
const toolRunner = new ToolRunner(conducting, capabilities.handlers, capabilities.standard);
const invocations = new Invocations({
  tabs,
  plugins,
  bridges,
  injector,
  records,
  inflight,
  departures,
  toolRunner,
  whyBlocked: blockedReason,
  acting: (frame) => marks.acting(frame),
  send,
});
const recovery = new Recovery({ bridges, records, outcomes, inflight, invocations, send });
const commands = new Map([
  ...commandsOf({
    shown: (tabId, waitMs) => tabs.shown(tabId, waitMs),
    group: (wanted) => groups.show(wanted),
    async reinject(tabId, name) {
      const plugin = plugins.get(name);
      if (plugin === undefined) throw new Error(`There is no plugin ${name}`);
      await injector.reinjectAdapter(await injector.ensureBridge(tabId), plugin);
    },
  }),
  ...capabilities.commands,
]);

// What draws the person's attention, and what keeps this worker awake.
const attention = new Attention({
  panelsOpen: () => panels.open,
  ask: (method, path, body) => requests.ask(method, path, body),
  open(question) {
    openPanel(tabs.lastWindow);
    if (question !== undefined) panels.show(question);
  },
});
const keepalive = new Keepalive(() => link.connected && bridges.isEmpty);

// Listeners.

link.listen({
  opened(welcome) {
    void paired.proved(welcome.command);
    void greet(welcome);
  },
  frame: router({
    call: (frame, payload) => invocations.start(frame, payload),
    cancel: ({ id }) => invocations.cancel(id),
    ack: ({ ids }) => outcomes.acknowledge(ids),
    ask: ({ calls }) => void recovery.answer(calls),
    plugins: ({ plugins: list }) => void installPlugins(list),
    command: ({ id, name, params }) => {
      runCommand(name, params, commands).then((reply) => link.sendText(replyText(id, reply)));
    },
    response: (frame, payload) => requests.handleResponse(frame, payload),
    news: ({ topics, waiting }) => {
      panels.sendNews(topics, waiting);
      capabilities.news(topics);
      if (topics.includes('paused')) void attention.lookPaused();
      marks.waiting(waiting);
      attention.waiting(waiting);
    },
  }),
  changed: ({ phase }) => {
    if (phase !== 'connected') for (const one of [requests, capabilities]) one.lost();
    keepalive.changed();
    if (phase === 'stopped' || phase === 'waiting' || phase === 'unpaired') attention.waiting(0);
    panels.changed();
  },
});

tabs.listen({
  changed: (tab) => send({ type: 'tab', tab }),
  closed: (tabId, became) => send({ type: 'tabclosed', tabId, ...(became !== undefined && { became }) }),
  removed: (tabId) => {
    departures.tabRemoved(tabId);
    references.forget(tabId);
    capabilities.removed(tabId);
  },
  loading: (tabId) => departures.tabLoading(tabId),
  frozen: (tabId) => invocations.refuseBlocked(tabId),
});

bridges.listen({
  message(bridge, message) {
    if (capabilities.hear(bridge, message)) return;
    switch (message.type) {
      case 'registered':
        plugins.unloadOutdatedIn(bridge);
        return;
      case 'followed': {
        const frame = followedFrame(message);
        if (frame !== undefined) send(frame);
        return;
      }
      case 'dialog':
        invocations.refuseBlocked(bridge.tabId);
        return;
      case 'known':
        recovery.handleQueryAnswer(message.id);
    }
    if (!('id' in message) || message.type === 'lateReady') return;
    if (invocations.handleMessage(bridge, message) || message.type !== 'outcome') return;
    records.loaded.then(() => recovery.handleUnknownOutcome(bridge, message));
  },
  ready: (bridge) => {
    tabs.runs(bridge.tabId);
    plugins.unloadOutdatedIn(bridge);
    capabilities.ready(bridge);
    keepalive.changed();
  },
  gone: (bridge) => {
    toolRunner.gone(bridge);
    departures.bridgeGone(bridge);
    if (bridge.frameId === 0) tabs.look(bridge.tabId);
    capabilities.gone(bridge);
    keepalive.changed();
  },
});

panels.setOrders({
  state: () => ({
    link: link.state,
    bundle: bundleHash,
    profile: profile.current,
    marks: marks.on,
    paired: paired.state,
    program: program.state,
    pairing: pairer.state,
  }),
  dial: (forced) => link.dial(forced),
  start: () => void program.start().then(() => link.dial(true)),
  ask: (method, path, body) => requests.ask(method, path, body),
  counted(open) {
    attention.panels();
    if (link.protocol >= withPanel) send({ type: 'panels', open });
  },
  marks: (on) => marks.set(on),
  name(label) {
    profile.rename(label).then((named) => {
      if (named !== undefined && link.protocol >= withPanel) send({ type: 'profile', label: named.label });
    });
  },
  pair: (text) => void pairer.pairWith(text),
  async paired(on) {
    await paired.end(!on);
    link.redial();
    if (!on) await installPlugins([]); // nothing of the plugins stays in pages
  },
});

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === 'panel') panels.add(port);
  else if (!isWaker(port)) bridges.add(port);
});
chrome.alarms.onAlarm.addListener(() => link.dial());
chrome.runtime.onStartup.addListener(() => link.dial());
chrome.runtime.onInstalled.addListener((details) => {
  link.dial(true);
  void openFirstPage(details);
});
chrome.alarms.create(alarmName, { periodInMinutes: 0.5 });
// Plugins share a world with the bridge, and what a frame of theirs has of the extension's interfaces is not for them.
for (const area of [chrome.storage.local, chrome.storage.sync, chrome.storage.session])
  area.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });

// What a worker before this one may have left.
void forgetRules();
uncoverLeftovers();
void detachLeftovers();

link.dial();

function replyText(id: string, reply: Reply): string {
  if ('payload' in reply) return frameText({ type: 'reply', id, ok: true }, reply.payload);
  return frameText({ type: 'reply', id, ...reply });
}

function installPlugins(list: FrameOf<'plugins'>['plugins']): Promise<void> {
  return install(list, { tabs, bridges, injector, plugins, added });
}

async function greet(welcome: FrameOf<'welcome'>): Promise<void> {
  capabilities.welcomed(welcome);
  invocations.startMs = welcome.startMs ?? invocations.startMs; // older relays do not say
  toolRunner.startMs = invocations.startMs;
  injector.patienceMs = invocations.startMs / 2; // what a call prepares has to be ready before
  await tabs.loaded;
  outcomes.sendAgain();
  if (link.protocol >= withPanel) {
    send({ type: 'panels', open: panels.open });
    void attention.lookPaused();
  }
  send({ type: 'tabs', tabs: tabs.all() });
  capabilities.listed();
  if (!(await chrome.permissions.contains({ origins: ['<all_urls>'] }))) {
    const message =
      'The extension may not read all sites: allow it under "Site access" in chrome://extensions';
    send({ type: 'notice', level: 'warning', message });
  }
  await updateTo(welcome.bundle, () => inflight.size > 0);
}

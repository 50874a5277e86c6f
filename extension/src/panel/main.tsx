// The side panel: the state of the connection, and the last calls with the error as the agent saw it.
import { type CallEntry, isPanelState, type PanelState } from './state.ts';

const phases: Record<PanelState['link']['phase'], string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  waiting: 'Not connected',
  unpaired: 'Not paired',
  stopped: 'Connection refused',
};

const advice: Partial<Record<PanelState['link']['phase'], string>> = {
  waiting: 'Trying again by itself. Is the relay running? Start it with “tabrelay up”.',
  unpaired: 'Run “tabrelay up”; it prepares the folder this extension is loaded from.',
  stopped: 'Looked at again every minute. Run “tabrelay doctor” to see what to change.',
};

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`panel.html has no #${id}`);
  return found;
}

function make(tag: string, className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

const outcomeText = (call: CallEntry): [className: string, text: string] => {
  if (call.outcome === 'running') return ['outcome running', 'running'];
  if (call.outcome === 'returned') return ['outcome returned', 'done'];
  return ['outcome failed', call.outcome];
};

const timeText = (call: CallEntry): string => {
  const time = new Date(call.at).toLocaleTimeString();
  return call.durationMs === undefined ? time : `${time} · ${call.durationMs} ms`;
};

function row(call: CallEntry, open: boolean): HTMLElement {
  const item = document.createElement('li');
  item.dataset.id = call.id;
  const name = call.plugin === '' ? 'resumed call' : `${call.plugin}__${call.tool}`;
  const parts = [
    make('span', 'tool', name),
    make('span', ...outcomeText(call)),
    make('span', 'when', timeText(call)),
  ];
  if (call.error === undefined) {
    const line = make('div', 'row', '');
    line.append(...parts);
    item.append(line);
    return item;
  }
  const details = document.createElement('details');
  details.open = open;
  const summary = document.createElement('summary');
  summary.append(...parts);
  details.append(summary, make('pre', '', call.error));
  item.append(details);
  return item;
}

function showLink(link: PanelState['link']): void {
  element('link').dataset.phase = link.phase;
  element('link-phase').textContent = phases[link.phase];
  element('link-address').textContent = link.address === '' ? '' : `Relay at ${link.address}`;
  const connected = link.phase === 'connected';
  const why = connected ? `tabrelay ${link.message}` : link.message;
  element('link-message').textContent = [why, advice[link.phase]]
    .filter(Boolean)
    .join('. ')
    .replaceAll('..', '.');
  element('retry').hidden = connected || link.phase === 'connecting';
}

const idAround = (inside: Element | null): string | undefined => inside?.closest('li')?.dataset.id;

function showCalls(calls: readonly CallEntry[]): void {
  const list = element('calls');
  const open = new Set<string | undefined>();
  for (const details of list.querySelectorAll<HTMLElement>('details[open]')) open.add(idAround(details));
  element('calls-empty').hidden = calls.length > 0;
  const focused = list.contains(document.activeElement) ? idAround(document.activeElement) : undefined;
  list.replaceChildren(...calls.map((call) => row(call, open.has(call.id))));
  // The list is made anew; whoever moves through it with the keyboard stays where they are.
  for (const item of list.querySelectorAll('li')) {
    if (focused !== undefined && item.dataset.id === focused) item.querySelector('summary')?.focus();
  }
}

// Chrome ends the worker now and then; a new port wakes it.
function connect(): void {
  const port = chrome.runtime.connect({ name: 'panel' });
  port.onMessage.addListener((state: unknown) => {
    if (!isPanelState(state)) return;
    showLink(state.link);
    showCalls(state.calls);
  });
  port.onDisconnect.addListener(() => setTimeout(connect, 100));
  element('retry').onclick = () => port.postMessage({ type: 'retry' });
}

connect();

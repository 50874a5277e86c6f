// Watches the page's console from the main world while a call is open: what it writes as warnings and errors,
// uncaught errors and unhandled rejections. Outside that time nothing of its console is touched. Dialogs are always
// told.

import {
  call,
  defineProperty,
  errorEvent,
  eventData,
  listen,
  MessageChannelCtor,
  now,
  ownDescriptor,
  portPost,
  portStart,
  rejectionReason,
  unlisten,
} from '../shared/primordials.ts';
import { tapCaptures } from './captures.ts';
import { consoleEvent, handOver } from './channel.ts';
import { tapDialogs } from './dialogs.ts';
import { tapLinks } from './links.ts';
import { consoleText } from './serialise.ts';
import { isOurs, isThrownIn } from './trace.ts';
import { tapWindows } from './windows.ts';

const channel = new MessageChannelCtor();
const port = channel.port1;

// own: an error that a file of ours threw, and that whoever works on its plugin is told of elsewhere.
const write = (kind: string, values: readonly unknown[], own = false) =>
  portPost(port, { type: 'entry', at: now(), text: consoleText(values, `${kind}: `), own });

// What a call may take for progress; it is no part of a console's tail.
const pass = (values: readonly unknown[]) => portPost(port, { type: 'line', text: consoleText(values) });

// Puts a function in front of console[name]; what it returns puts the old one back, unless the page changed it since.
function tapConsole(name: 'error' | 'warn' | 'log' | 'info', heard: (values: unknown[]) => void): () => void {
  const before = ownDescriptor(console, name);
  const original: unknown = before?.value;
  if (before === undefined || before.configurable !== true || typeof original !== 'function') return () => {};
  const tapped = (...values: unknown[]): unknown => {
    heard(values);
    return call(original, console, values);
  };
  defineProperty(tapped, 'name', { value: name, configurable: true });
  defineProperty(console, name, { ...before, value: tapped });
  return () => {
    if (ownDescriptor(console, name)?.value === tapped) defineProperty(console, name, before);
  };
}

const onError = (event: Event) => {
  const { error, message, file } = errorEvent(event) ?? { error: undefined, message: event, file: '' };
  write('uncaught', [message], isThrownIn(error) || isOurs(file));
};
const onRejection = (event: Event) => {
  const reason = rejectionReason(event)?.value;
  write('unhandled rejection', [reason], isThrownIn(reason));
};

let close: (() => void) | undefined;
let closeLines: (() => void) | undefined;

function open(): void {
  if (close !== undefined) return;
  const restoreError = tapConsole('error', (values) => write('error', values));
  const restoreWarn = tapConsole('warn', (values) => write('warning', values));
  listen(window, 'error', onError);
  listen(window, 'unhandledrejection', onRejection);
  close = () => {
    restoreError();
    restoreWarn();
    unlisten(window, 'error', onError);
    unlisten(window, 'unhandledrejection', onRejection);
    close = undefined;
  };
}

function openLines(): void {
  if (closeLines !== undefined) return;
  const restoreLog = tapConsole('log', pass);
  const restoreInfo = tapConsole('info', pass);
  closeLines = () => {
    restoreLog();
    restoreInfo();
    closeLines = undefined;
  };
}

listen(port, 'message', (event) => {
  const command = eventData(event);
  if (command === 'open') open();
  else if (command === 'close') close?.();
  else if (command === 'openLines') openLines();
  else if (command === 'closeLines') closeLines?.();
  else if (command === 'sync') portPost(port, { type: 'synced' });
});
portStart(port);
handOver(channel.port2, consoleEvent);
tapCaptures();
tapDialogs();
tapLinks();
tapWindows();

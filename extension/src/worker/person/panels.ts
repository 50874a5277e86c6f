// The open side panels: they get the whole state whenever it changes, news of the relay, and answers to what they ask.

import {
  isMarks,
  isName,
  isPair,
  isPaired,
  isPanelRequest,
  isRetry,
  isStart,
  type PanelNews,
  type PanelResponse,
} from '../../shared/panel-messages.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import { whenDisconnected } from '../../shared/ports.ts';
import type { Answer } from '../link/requests.ts';

/** What a panel can ask the worker to do. */
export interface PanelOrders {
  state(): PanelState;
  dial(forced: boolean): void;
  start(): void; // the relay
  name(label: string): void;
  marks(on: boolean): void;
  pair(text: string): void;
  paired(on: boolean): void;
  ask(method: string, path: string, body: unknown): Promise<Answer>;
  counted(open: number): void; // so many panels are open now
}

/**
 * Whether a port comes from our own panel page. Its id alone does not tell: content scripts have it too, and their url
 * is the page's. Chrome fills in all three; no page has a say in them.
 */
function isPanel(sender: chrome.runtime.MessageSender | undefined): boolean {
  if (sender?.id !== chrome.runtime.id || sender.url === undefined) return false;
  const page = chrome.runtime.getURL('panel.html');
  return sender.url.split('#', 1)[0] === page && (sender.origin ?? origin(page)) === origin(page);
}

const origin = (url: string): string => url.slice(0, url.indexOf('/', url.indexOf('://') + 3));

export class Panels {
  readonly #ports = new Set<chrome.runtime.Port>();
  #orders: PanelOrders | undefined;
  #due = false;
  #toShow: string | undefined; // the question that a panel is opened for, until one has asked about it

  /** Sets the handler of what panels ask for; once, before a panel opens. */
  setOrders(orders: PanelOrders): void {
    this.#orders = orders;
  }

  /** How many panels are open. */
  get open(): number {
    return this.#ports.size;
  }

  /** Accepts the port of our own panel page; disconnects any other. */
  add(port: chrome.runtime.Port): void {
    const orders = this.#orders;
    if (!isPanel(port.sender) || orders === undefined) {
      port.disconnect();
      return;
    }
    this.#ports.add(port);
    whenDisconnected(port, chrome.runtime, () => {
      this.#ports.delete(port);
      orders.counted(this.#ports.size);
    });
    port.onMessage.addListener((message: unknown) => this.#hear(port, message, orders));
    port.postMessage(orders.state());
    if (this.#toShow !== undefined) port.postMessage({ type: 'show', question: this.#toShow });
    orders.counted(this.#ports.size);
  }

  /** Shows a question in the panels that are open, or in the next one: an open one may be closing. */
  show(question: string): void {
    this.#toShow = question;
    for (const port of this.#ports) port.postMessage({ type: 'show', question });
  }

  #hear(port: chrome.runtime.Port, message: unknown, orders: PanelOrders): void {
    if (isRetry(message)) orders.dial(true);
    if (isStart(message)) orders.start();
    if (isName(message)) orders.name(message.label);
    if (isMarks(message)) orders.marks(message.on);
    if (isPair(message)) orders.pair(message.text);
    if (isPaired(message)) orders.paired(message.on);
    if (!isPanelRequest(message)) return;
    const { id, method, path, body } = message;
    if (path === 'approvals') this.#toShow = undefined;
    orders.ask(method, path, body).then((answer) => {
      const response: PanelResponse = { type: 'response', id, ...answer };
      if (this.#ports.has(port)) port.postMessage(response);
    });
  }

  /** Sends the relay's news to every panel. */
  sendNews(topics: string[], waiting: number): void {
    const news: PanelNews = { type: 'news', topics, waiting };
    for (const port of this.#ports) port.postMessage(news);
  }

  /** Something the panel shows changed. Sent at most ten times a second, and not at all without a panel. */
  changed(): void {
    const orders = this.#orders;
    if (this.#due || this.#ports.size === 0 || orders === undefined) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      const state = orders.state();
      for (const port of this.#ports) port.postMessage(state);
    }, 100);
  }
}

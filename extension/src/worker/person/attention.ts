// The toolbar icon's badge while no panel is open: how many questions wait, or that agents are paused. And the
// keyboard shortcut that stops all agents. The shortcut that opens the panel is Chrome's own.
import { isFlag, shape } from '../../shared/guards.ts';
import { type Answer, failureOf } from '../link/requests.ts';
import { Notifications, waitingText } from './notifications.ts';

const title = 'tabrelay';
const colors = { questions: '#b3261e', paused: '#8a5300' };
const pausedPath = '/api/v1/paused';
const isPaused = shape({ paused: isFlag });

interface Surroundings {
  panelsOpen(): number;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Opens the panel, on a question if there is one. Called within the person's click. */
  open(question?: string): void;
}

export class Attention {
  readonly #around: Surroundings;
  readonly #notifications: Notifications;
  #waiting = 0;
  #paused = false;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#notifications = new Notifications(around);
    chrome.action.setBadgeTextColor({ color: '#ffffff' });
    chrome.commands.onCommand.addListener((name) => {
      if (name === 'stop-everything') void this.#stop();
    });
  }

  /** So many questions wait for the person now, as the relay says. */
  waiting(count: number): void {
    this.#waiting = count;
    this.#draw();
    this.#notify();
  }

  /** A panel was opened or closed: an open one shows the questions itself. */
  panels(): void {
    this.#notify();
  }

  /** Whether agents are paused may be different now. */
  async lookPaused(): Promise<void> {
    const { body } = await this.#around.ask('GET', pausedPath);
    if (isPaused(body)) this.#setPaused(body.paused);
  }

  async #stop(): Promise<void> {
    const answer = await this.#around.ask('PUT', pausedPath, { paused: true });
    const failure = failureOf(answer);
    if (failure === undefined) {
      this.#setPaused(true);
      return;
    }
    chrome.action.setBadgeText({ text: '!' });
    chrome.action.setTitle({ title: `${title}: not stopped. ${failure}` });
    await this.#notifications.say('Not stopped', `${failure}.`);
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#draw();
  }

  #draw(): void {
    const texts = [
      this.#paused ? 'paused' : '',
      this.#waiting === 0 ? '' : waitingText(this.#waiting),
    ].filter(Boolean);
    chrome.action.setBadgeBackgroundColor({ color: this.#paused ? colors.paused : colors.questions });
    chrome.action.setBadgeText({
      text: this.#paused ? 'II' : this.#waiting === 0 ? '' : String(this.#waiting),
    });
    chrome.action.setTitle({ title: [title, texts.join(', ')].filter(Boolean).join(': ') });
  }

  #notify(): void {
    this.#notifications.show(this.#waiting > 0 && this.#around.panelsOpen() === 0);
  }
}

/** Called within the person's click, before anything is awaited: Chrome opens the panel for a gesture only. */
export function openPanel(windowId: number | undefined): void {
  const opened =
    windowId === undefined ? Promise.reject(new Error('no window')) : chrome.sidePanel.open({ windowId });
  const inWindow = () => chrome.windows.create({ url: 'panel.html', type: 'popup', width: 420, height: 720 });
  opened.catch(inWindow);
}

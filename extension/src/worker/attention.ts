// Tells the person that questions wait while no panel shows them: the number on the toolbar icon, and, where they
// allowed it, a notification that says what is asked. Answering happens in the panel only.
import { isText, listOf, optional, shape } from '../page/guards.ts';
import { plain } from './marks.ts';
import type { Answer } from './requests.ts';

const notificationId = 'questions';
const title = 'tabrelay';
const maxOrigin = 60;

const isQuestions = shape({
  approvals: listOf(
    shape({
      id: isText,
      client: isText,
      agent: optional(isText), // the delegated agent that calls for the client
      title: isText,
      origin: optional(isText),
      risk: optional(isText),
    }),
  ),
});

const asker = ({ agent, client }: { agent: string | undefined; client: string }): string =>
  agent ? `${plain(agent, 40)} for ${plain(client, 40)}` : plain(client, 40);

const risks = new Map([
  ['changes', 'It can change something.'],
  ['destroys', 'It can delete or overwrite something.'],
]);

interface Surroundings {
  panelsOpen(): number;
  ask(method: string, path: string): Promise<Answer>;
  windowId(): number | undefined; // of the browser window used last
}

export class Attention {
  readonly #around: Surroundings;
  #waiting = 0;
  #told = ''; // the ids that the notification on the screen is about
  #listening = false;

  constructor(around: Surroundings) {
    this.#around = around;
    chrome.action.setBadgeBackgroundColor({ color: '#b3261e' });
    chrome.action.setBadgeTextColor({ color: '#ffffff' });
    this.#listen();
    chrome.permissions.onAdded.addListener(() => {
      this.#listen();
      this.#notify();
    });
  }

  /** So many questions wait for the person now, as the relay says. */
  waiting(count: number): void {
    this.#waiting = count;
    chrome.action.setBadgeText({ text: count === 0 ? '' : String(count) });
    chrome.action.setTitle({ title: count === 0 ? title : `${title}: ${waitingText(count)}` });
    this.#notify();
  }

  /** A panel was opened or closed: an open one shows the questions itself. */
  panels(): void {
    this.#notify();
  }

  #notify(): void {
    if (this.#waiting === 0 || this.#around.panelsOpen() > 0) this.#withdraw();
    else this.#show().catch(() => {}); // the badge stands
  }

  async #show(): Promise<void> {
    if (chrome.notifications === undefined) return; // not allowed
    const { body } = await this.#around.ask('GET', '/api/v1/approvals');
    if (!isQuestions(body) || body.approvals.length === 0) return;
    const ids = body.approvals.map(({ id }) => id).join(' ');
    const [first] = body.approvals;
    if (ids === this.#told || first === undefined || this.#waiting === 0 || this.#around.panelsOpen() > 0)
      return;
    const known = this.#told.split(' ');
    const newest = body.approvals.find(({ id }) => !known.includes(id)) ?? first;
    this.#told = ids;
    await chrome.notifications.create(notificationId, {
      type: 'basic',
      iconUrl: chrome.runtime.getURL('icons/128.png'),
      title: `${asker(newest)} asks for permission`,
      message: questionText(newest),
      contextMessage:
        body.approvals.length > 1 ? waitingText(body.approvals.length) : 'Answer in the side panel',
    });
  }

  #withdraw(): void {
    if (this.#told === '') return;
    this.#told = '';
    chrome.notifications?.clear(notificationId);
  }

  // The namespace comes with the permission, which may be given while this worker runs.
  #listen(): void {
    if (this.#listening || chrome.notifications === undefined) return;
    this.#listening = true;
    chrome.notifications.onClicked.addListener((id) => {
      if (id === notificationId) openPanel(this.#around.windowId());
    });
  }
}

// Called within the person's click, before anything is awaited: Chrome opens the panel for a gesture only.
function openPanel(windowId: number | undefined): void {
  const opened =
    windowId === undefined ? Promise.reject(new Error('no window')) : chrome.sidePanel.open({ windowId });
  const inWindow = () => chrome.windows.create({ url: 'panel.html', type: 'popup', width: 420, height: 720 });
  opened.catch(inWindow);
}

export const waitingText = (count: number): string =>
  count === 1 ? '1 question waits for you' : `${count} questions wait for you`;

/** What is asked, in one or two sentences. Every word of it that others chose is made plain and short. */
export function questionText(q: {
  title: string;
  origin?: string | undefined;
  risk?: string | undefined;
}): string {
  const where = q.origin === undefined || q.origin === '' ? '' : ` at ${plain(q.origin, maxOrigin)}`;
  const risk = risks.get(q.risk ?? '');
  return `It wants to run “${plain(q.title)}”${where}.${risk === undefined ? '' : ` ${risk}`}`;
}

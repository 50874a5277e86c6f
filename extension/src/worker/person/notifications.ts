// Chrome's notifications of open questions, where the person allowed them: one for each question, so that Deny answers
// the one that is read. Allowing happens in the panel only, where the whole question is in view.

import { isText, listOf, optional, shape } from '../../shared/guards.ts';
import { type Answer, failureOf } from '../link/requests.ts';
import { plain } from '../util/text.ts';

const prefix = 'question ';
const resultId = 'result';
const atOnce = 3; // the icon counts the others
const maxOrigin = 60;
const maxSentence = 240;
const maxBrief = 400; // the relay's own bounds are less

const isQuestions = shape({
  approvals: listOf(
    shape({
      id: isText,
      client: isText,
      agent: optional(isText), // the agent that calls for the client
      machine: optional(isText), // where the client is on another one, in the relay's words
      title: isText,
      brief: optional(isText), // what an act will do and where, as the relay says it
      origin: optional(isText),
      risk: optional(isText),
    }),
  ),
});

interface Asker {
  agent?: string | undefined;
  client: string;
  machine?: string | undefined;
}

/** Who asks, and whether from another machine. */
export const asker = ({ agent, client, machine }: Asker): string =>
  `${agent ? `${plain(agent, 40)} for ` : ''}${plain(client, 40)}${machine ? ' on another machine' : ''}`;

const risks = new Map([
  ['changes', 'It can change something.'],
  ['destroys', 'It can delete or overwrite something.'],
]);

interface Surroundings {
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Opens the panel on a question, or as it is. Called within the person's click. */
  open(question?: string): void;
}

export class Notifications {
  readonly #around: Surroundings;
  readonly #told = new Set<string>(); // questions, also those whose notification the person closed
  #wanted = false;
  #listening = false;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#listen();
    chrome.permissions.onAdded.addListener(() => {
      this.#listen();
      this.show(this.#wanted);
    });
  }

  /** Whether open questions are to be shown; called again whenever they may be others. */
  show(wanted: boolean): void {
    this.#wanted = wanted;
    const done = wanted ? this.#follow() : this.#withdraw([]);
    done.catch(() => {}); // the number at the icon stands
  }

  async #follow(): Promise<void> {
    if (chrome.notifications === undefined) return; // not allowed
    const { body } = await this.#around.ask('GET', '/api/v1/approvals');
    if (!isQuestions(body) || !this.#wanted) return;
    const { approvals } = body;
    await this.#withdraw(approvals.map(({ id }) => prefix + id));
    for (const question of approvals.slice(0, atOnce)) {
      if (this.#told.has(question.id)) continue;
      this.#told.add(question.id);
      await chrome.notifications.create(prefix + question.id, {
        type: 'basic',
        iconUrl: chrome.runtime.getURL('icons/128.png'),
        title: `${asker(question)} asks for permission`,
        message: questionText(question),
        contextMessage: approvals.length > 1 ? waitingText(approvals.length) : '',
        buttons: [{ title: 'Deny' }, { title: 'Open' }],
      });
    }
  }

  async #withdraw(except: readonly string[]): Promise<void> {
    if (chrome.notifications === undefined) return;
    for (const id of Object.keys(await chrome.notifications.getAll())) {
      if (id.startsWith(prefix) && !except.includes(id)) await chrome.notifications.clear(id);
    }
    for (const id of this.#told) if (!except.includes(prefix + id)) this.#told.delete(id);
  }

  // The namespace comes with the permission, which may be given while this worker runs.
  #listen(): void {
    if (this.#listening || chrome.notifications === undefined) return;
    this.#listening = true;
    chrome.notifications.onClicked.addListener((id) => this.#open(id));
    chrome.notifications.onButtonClicked.addListener((id, button) => {
      if (button === 0 && id.startsWith(prefix)) void this.#deny(id);
      else this.#open(id);
    });
  }

  #open(id: string): void {
    chrome.notifications.clear(id);
    this.#around.open(id.startsWith(prefix) ? id.slice(prefix.length) : undefined);
  }

  async #deny(id: string): Promise<void> {
    chrome.notifications.clear(id);
    const path = `/api/v1/approvals/${encodeURIComponent(id.slice(prefix.length))}`;
    const failure = failureOf(await this.#around.ask('POST', path, { answer: 'deny' }));
    if (failure !== undefined) await this.say('Nothing was denied', `${failure}.`);
  }

  /** Tells the person what became of something that they did outside of the panel. */
  async say(title: string, message: string): Promise<void> {
    await chrome.notifications?.create(resultId, {
      type: 'basic',
      iconUrl: chrome.runtime.getURL('icons/128.png'),
      title,
      message: plain(message, maxSentence),
    });
  }
}

export const waitingText = (count: number): string =>
  count === 1 ? '1 question waits for you' : `${count} questions wait for you`;

/** Of a long origin the end, which says whose it is: anybody may begin theirs as they like. */
function shortOrigin(origin: string): string {
  const whole = plain(origin, origin.length);
  return whole.length > maxOrigin ? `…${whole.slice(1 - maxOrigin)}` : whole;
}

/** What is asked, in one or two sentences. Every word of it that others chose is made plain and short. */
export function questionText(q: {
  title: string;
  brief?: string | undefined;
  origin?: string | undefined;
  risk?: string | undefined;
}): string {
  const where = q.origin === undefined || q.origin === '' ? '' : ` at ${shortOrigin(q.origin)}`;
  const asked = q.brief ? plain(q.brief, maxBrief) : `It wants to run “${plain(q.title)}”${where}.`;
  const risk = risks.get(q.risk ?? '');
  return risk === undefined ? asked : `${asked} ${risk}`;
}

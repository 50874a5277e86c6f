// The program of this machine, which the browser starts for an extension that may (an edition with nativeMessaging): it
// says where the relay is and what proves this extension to it, and starts the relay when the person wants that.
import { type Guarded, isFlag, isText, maybe, shape } from '../../shared/guards.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import type { Pairing } from './handshake.ts';

const name = 'io.github.tabrelay'; // under which the program registers with browsers
const keptMs = 10_000; // an answer, while the relay is dialled again and again
const absentMs = 900; // that there is no program: nothing has to be started to see whether there is one now
const patienceMs = { find: 10_000, start: 60_000 } as const;

const isAnswer = shape({
  address: maybe(isText),
  secret: maybe(isText),
  running: isFlag,
  problem: maybe(shape({ message: isText, hint: maybe(isText) })),
});
type Answer = Guarded<typeof isAnswer>;

const answerless =
  'The tabrelay program of this computer gave an answer that this extension does not understand';
const silent = 'tabrelay’s program on this computer did not answer in time';
const ended =
  'tabrelay’s program on this computer gave no answer; it may have been moved, deleted or damaged';
const forbidden = () =>
  `tabrelay’s program on this computer does not know this extension: its setting extensionIds lacks ${chrome.runtime.id}`;

/** Starts the program for one message. One that is late is given up, so that it does not stay. */
function converse(type: 'find' | 'start'): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const port = chrome.runtime.connectNative(name);
    const give = (settle: () => void) => {
      clearTimeout(timer);
      port.disconnect();
      settle();
    };
    const timer = setTimeout(() => give(() => reject(new Error(silent))), patienceMs[type]);
    port.onMessage.addListener((answer: unknown) => give(() => resolve(answer)));
    port.onDisconnect.addListener(() => {
      const why = chrome.runtime.lastError?.message ?? '';
      give(() => reject(new Error(why)));
    });
    port.postMessage({ type });
  });
}

export class NativeHost {
  readonly #changed: () => void;
  #answer: Answer | undefined;
  #askedAt = 0;
  #startProblem = ''; // why the last start failed, until one succeeds
  state: PanelState['program'] = { phase: 'unknown', message: '' };

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether the program can be asked, as far as is known. */
  get possible(): boolean {
    return 'connectNative' in chrome.runtime && this.state.phase !== 'absent';
  }

  /** It is not what counts: something else says what to dial with. */
  forget(): void {
    if (this.state.phase === 'starting' || this.state.phase === 'unknown') return;
    this.#answer = undefined;
    this.#askedAt = 0;
    this.#become('unknown', '');
  }

  /** What the program says to dial with; undefined when there is none, or it cannot say. */
  async find(): Promise<Pick<Pairing, 'address' | 'secret'> | undefined> {
    const kept = this.state.phase === 'absent' && this.state.message === '' ? absentMs : keptMs;
    if (this.state.phase !== 'starting' && Date.now() - this.#askedAt > kept) await this.#ask('find');
    const { address, secret } = this.#answer ?? {};
    return address && secret ? { address, secret } : undefined;
  }

  /** The person has the relay started; one attempt at a time. Resolves with whether it runs. */
  async start(): Promise<boolean> {
    if (this.state.phase === 'starting') return false;
    this.#startProblem = '';
    this.#become('starting', '');
    await this.#ask('start');
    if (this.state.phase === 'failed') {
      this.#startProblem = this.state.message;
      this.#become('found', this.#startProblem); // it answered: it is there
    }
    return this.#answer?.running === true;
  }

  async #ask(type: 'find' | 'start'): Promise<void> {
    // Without the permission, Chrome does not offer the function.
    if (!('connectNative' in chrome.runtime)) return;
    this.#askedAt = Date.now();
    this.#answer = undefined;
    try {
      const answer: unknown = await converse(type);
      if (!isAnswer(answer)) return this.#become('failed', answerless);
      if (answer.problem) {
        const { message, hint } = answer.problem;
        return this.#become('failed', hint ? `${message}: ${hint}` : message);
      }
      this.#answer = answer;
      if (answer.running) this.#startProblem = '';
      this.#become('found', this.#startProblem);
    } catch (why) {
      const message = why instanceof Error ? why.message : String(why);
      if (/forbidden/.test(message)) this.#become('failed', forbidden());
      else if (/not found/.test(message)) this.#become('absent', '');
      else this.#become('absent', message === silent ? silent : ended);
    } finally {
      this.#askedAt = Date.now();
    }
  }

  #become(phase: PanelState['program']['phase'], message: string): void {
    this.state = { phase, message };
    this.#changed();
  }
}

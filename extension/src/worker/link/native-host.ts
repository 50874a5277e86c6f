// The program of this machine, which the browser starts for an extension that may (an edition with nativeMessaging): it
// says where the relay is and what proves this extension to it, and starts the relay when the person wants that.
import { type Guarded, isFlag, isText, maybe, shape } from '../../shared/guards.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import type { Pairing } from './handshake.ts';

const name = 'io.github.tabrelay'; // under which the program registers with browsers
const keptMs = 10_000; // an answer, while the relay is dialled again and again

const isAnswer = shape({
  address: maybe(isText),
  secret: maybe(isText),
  running: isFlag,
  problem: maybe(shape({ message: isText, hint: maybe(isText) })),
});
type Answer = Guarded<typeof isAnswer>;

const answerless =
  'The tabrelay program of this computer gave an answer that this extension does not understand';

export class NativeHost {
  readonly #changed: () => void;
  #answer: Answer | undefined;
  #askedAt = 0;
  state: PanelState['program'] = { phase: 'unknown', message: '' };

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What the program says to dial with; undefined when there is none, or it cannot say. */
  async find(): Promise<Pick<Pairing, 'address' | 'secret'> | undefined> {
    if (this.state.phase !== 'starting' && Date.now() - this.#askedAt > keptMs) await this.#ask('find');
    const { address, secret } = this.#answer ?? {};
    return address && secret ? { address, secret } : undefined;
  }

  /** The person has the relay started; one attempt at a time. Resolves with whether it runs. */
  async start(): Promise<boolean> {
    if (this.state.phase === 'starting') return false;
    this.#become('starting', '');
    await this.#ask('start');
    return this.#answer?.running === true;
  }

  async #ask(type: 'find' | 'start'): Promise<void> {
    // Without the permission, Chrome does not offer the function.
    if (!('sendNativeMessage' in chrome.runtime)) return;
    this.#askedAt = Date.now();
    this.#answer = undefined;
    try {
      const answer: unknown = await chrome.runtime.sendNativeMessage(name, { type });
      if (!isAnswer(answer)) return this.#become('failed', answerless);
      if (answer.problem) {
        const { message, hint } = answer.problem;
        return this.#become('failed', hint ? `${message}: ${hint}` : message);
      }
      this.#answer = answer;
      this.#become('found', '');
    } catch (why) {
      const message = why instanceof Error ? why.message : String(why);
      if (/not found/.test(message)) this.#become('absent', '');
      else this.#become('failed', message);
    } finally {
      this.#askedAt = Date.now();
    }
  }

  #become(phase: PanelState['program']['phase'], message: string): void {
    this.state = { phase, message };
    this.#changed();
  }
}

// What goes on around an act of the browser's tools: dialogs of the page are answered meanwhile, and the worker tells
// what cannot be seen from a document: requests, tabs, downloads.
import { answerEvent, dialogEvent, resumeEvent } from '../../../page/dialogs.ts';
import type { Watched } from '../../../shared/bridge-global.ts';
import type { Dialog, DialogAnswer, FromBridge, News } from '../../../shared/bridge-messages.ts';
import { Windows } from './windows.ts';

const maxDialogs = 10;
const beginMs = 300; // the worker may have died
const newsMs = 1000; // it waits for the addresses of new tabs, and may be busy

export class Acting {
  readonly #post: (message: FromBridge) => void;
  #answer: DialogAnswer | undefined;
  #dialogs: Dialog[] = [];
  #more = 0;
  readonly #windows = new Windows();
  #open = new Map<number, { requests: number; stirred: boolean; ready(): void; told(news: News): void }>();
  #last = 0;

  constructor(post: (message: FromBridge) => void) {
    this.#post = post;
  }

  /** Begins to watch. Resolves when the worker does. */
  async watch(answer: DialogAnswer): Promise<Watched> {
    const number = ++this.#last;
    this.#answer = answer;
    this.#dialogs = [];
    this.#more = 0;
    this.#windows.allowOne();
    let told: (news: News) => void = () => {};
    const news = new Promise<News>((resolve) => {
      told = resolve;
    });
    const act = { requests: 0, stirred: false, ready: () => {}, told };
    const begun = new Promise<void>((resolve) => {
      act.ready = resolve;
    });
    this.#open.set(number, act);
    this.#post({ type: 'act', number, answer });
    await Promise.race([begun, pause(beginMs)]);
    let over: Promise<News> | undefined;
    return {
      busy() {
        const { stirred } = act; // a quick request has begun and ended between two looks
        act.stirred = false;
        return stirred || act.requests > 0;
      },
      known: () =>
        new Promise((resolve) => {
          act.ready = resolve;
          this.#post({ type: 'requests', number });
        }),
      touched: (on) => this.#post({ type: 'touched', number, on }),
      end: () => (over ??= this.#end(number, news)),
    };
  }

  /** A message of the worker about an act. */
  hear(
    message:
      | { type: 'acting'; number: number; requests: number }
      | { type: 'news'; number: number; news: News },
  ): void {
    const act = this.#open.get(message.number);
    if (act === undefined) return;
    if (message.type === 'news') {
      act.told(message.news);
      return;
    }
    act.stirred ||= message.requests !== act.requests;
    act.requests = message.requests;
    act.ready();
  }

  /** Answers the dialogs of this document while another one of the tab acts; undefined: not any more. */
  lend(answer: DialogAnswer | undefined): void {
    if (this.#open.size > 0) return;
    this.#answer = answer;
    // A click in a frame can have the page around it open a window.
    if (answer !== undefined && window.top === window) this.#windows.allowOne();
    else this.#windows.allowNone();
  }

  /** Listens to the page's dialogs: those nobody answers are told as open. */
  listen(tell: (open: boolean, dialog?: string) => void): void {
    document.addEventListener(dialogEvent, (event) => {
      const said: unknown = event instanceof MessageEvent ? event.data : '';
      const { kind, text, preset } = read(typeof said === 'string' ? said : '');
      const answer = this.#answer;
      if (answer === undefined) return tell(true, `${kind} ${JSON.stringify(text.slice(0, 120))}`);
      this.#told({ kind, text, answered: answerText(kind, answer) });
      document.dispatchEvent(new MessageEvent(answerEvent, { data: answerTo(kind, preset, answer) }));
    });
    document.addEventListener(resumeEvent, () => tell(false));
    this.#windows.listen(() => this.#answer !== undefined);
  }

  #told(dialog: Dialog): void {
    if (this.#open.size === 0) this.#post({ type: 'answered', dialog });
    else if (this.#dialogs.length < maxDialogs) this.#dialogs.push(dialog);
    else this.#more++;
  }

  async #end(number: number, news: Promise<News>): Promise<News> {
    this.#post({ type: 'acted', number });
    const outside = await Promise.race([news, pause(newsMs).then((): News => ({}))]);
    this.#open.delete(number);
    if (this.#open.size === 0) {
      this.#answer = undefined;
      this.#windows.allowNone();
    }
    const dialogs = [...this.#dialogs, ...(outside.dialogs ?? [])];
    return {
      ...outside,
      ...(dialogs.length > 0 && { dialogs }),
      ...(this.#more > 0 && { moreDialogs: this.#more }),
      ...this.#windows.told(outside.opened),
    };
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function read(said: string): Pick<Dialog, 'kind' | 'text'> & { preset: string } {
  const [name, text = '', preset = ''] = said.split('\0');
  const kind = name === 'confirm' || name === 'prompt' || name === 'print' ? name : 'alert';
  return { kind, text, preset };
}

function answerTo(kind: Dialog['kind'], preset: string, answer: DialogAnswer): string {
  if (answer === 'dismiss') return 'no';
  return kind === 'prompt' ? `yes ${typeof answer === 'object' ? answer.text : preset}` : 'yes';
}

function answerText(kind: Dialog['kind'], answer: DialogAnswer): string {
  if (kind === 'print') return 'not printed';
  if (kind === 'alert') return 'closed';
  if (answer === 'dismiss') return 'dismissed';
  return kind === 'prompt' && typeof answer === 'object' ? 'accepted with the text given' : 'accepted';
}

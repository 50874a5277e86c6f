// Windows that a page opens while something acts in it. Chrome blocks them, because the act is not a person's, but lets
// an extension's own world open one: it makes the empty window, and the page then finds it by its name and leads it to
// where it wants. So the page gets the window it asked for, with itself as its opener.
import { windowAnswerEvent, windowEvent } from '../../../page/windows.ts';
import type { News } from '../../../shared/bridge-messages.ts';

const maxBlocked = 10;
const withoutOpener = /(?:^|[\s,])(noopener|noreferrer)(?!\s*=\s*(?:no|false|0)\b)/i;

export class Windows {
  #left = 0; // as many as one act may open
  #asked = ''; // the address that it was opened for
  #blocked: string[] = [];

  /** An act begins: as a click of a person does, it opens one window at the most. */
  allowOne(): void {
    this.#left = 1;
    this.#asked = '';
    this.#blocked = [];
  }

  allowNone(): void {
    this.#left = 0;
  }

  /** What became of the windows, with what the worker saw of them. */
  told(seen: News['opened'] = []): Pick<News, 'opened' | 'blockedWindows'> {
    const opened = seen.map((one) =>
      ['', 'about:blank'].includes(one.url) && this.#asked !== ''
        ? { ...one, url: absolute(this.#asked) }
        : one,
    );
    const blocked = this.#blocked.filter((url) => !opened.some((one) => one.url === url));
    return {
      ...(opened.length > 0 && { opened }),
      ...(blocked.length > 0 && { blockedWindows: blocked }),
    };
  }

  /** Listens to what the page wants to open. */
  listen(acting: () => boolean): void {
    document.addEventListener(windowEvent, (event) => {
      const said: unknown = event instanceof MessageEvent ? event.data : '';
      if (!acting() || typeof said !== 'string') return;
      const [word, url = '', name = '', features = ''] = said.split('\0');
      if (word === 'blocked') {
        if (this.#blocked.length < maxBlocked) this.#blocked.push(absolute(url));
        return;
      }
      const opened = this.#left > 0 ? open(url, name, features) : undefined;
      if (opened === undefined) return;
      this.#left--;
      this.#asked = url;
      document.dispatchEvent(new MessageEvent(windowAnswerEvent, { data: opened }));
    });
  }
}

// The name under which the page finds its window; empty: it asked for one that it does not get to see.
function open(url: string, name: string, features: string): string | undefined {
  const alone = withoutOpener.exec(features)?.[1];
  if (alone !== undefined) {
    const address = absolute(url);
    if (!/^https?:/.test(address)) return undefined;
    window.open(address, '_blank', alone);
    return '';
  }
  const unnamed = name === '' || name.toLowerCase() === '_blank';
  const own = unnamed ? `tabrelay ${Math.random()}` : name;
  return window.open('', own) === null ? undefined : own;
}

function absolute(url: string): string {
  return URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : url;
}

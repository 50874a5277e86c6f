// The mark on a page while an agent acts in it: a line of text in a corner, for the person. It is in a closed shadow
// root, lets every click through, takes no focus and is not read aloud; it is no part of the text of the page, and
// readers of its HTML leave it out (capabilities/resources/page). The page can see that an element is there, not what
// it says.
import type { Acting } from '../shared/bridge-messages.ts';

declare global {
  /** The element, in the isolated world only, so that what reads the page can leave it out. */
  var tabrelayMark: Element | undefined;
}

const stayMs = 1500; // after the last call
const fadeMs = 150;

// The page's styles reach the element itself, so all that matters is said with !important.
const place: Record<string, string> = {
  all: 'initial',
  display: 'block',
  position: 'fixed',
  right: '12px',
  bottom: '12px',
  'max-width': 'min(60vw, 420px)',
  'z-index': '2147483647',
  'pointer-events': 'none',
  'user-select': 'none',
  contain: 'layout style',
};

const look: Record<string, string> = {
  padding: '4px 10px',
  'border-radius': '12px',
  font: '12px/1.4 system-ui, sans-serif',
  color: '#fff',
  background: 'rgb(31 41 55 / 88%)',
  border: '1px solid rgb(255 255 255 / 35%)',
  'white-space': 'nowrap',
  overflow: 'hidden',
  'text-overflow': 'ellipsis',
};

function style(element: HTMLElement, rules: Record<string, string>): void {
  for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value, 'important');
}

export class Mark {
  #host: HTMLElement | undefined;
  #label: HTMLElement | undefined;
  #due = false;
  #acting: Acting = { client: '', title: '' };
  #held: Acting | undefined;
  #open = 0;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  /** A call begins. Drawing waits until the page had its turn, so that the call does not wait for it. */
  begin(acting: Acting): void {
    if (window.top !== window) return; // the top document shows it, if any
    this.#open++;
    this.#acting = acting;
    clearTimeout(this.#leaving);
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#draw();
    });
  }

  /** A call that began has ended. */
  end(): void {
    if (this.#open === 0 || --this.#open > 0) return;
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.#rest(), stayMs);
  }

  /** What the mark says while nothing acts; undefined: then there is none. */
  hold(held: Acting | undefined): void {
    if (window.top !== window) return;
    this.#held = held;
    if (this.#open === 0) this.#rest();
  }

  #rest(): void {
    if (this.#held === undefined) {
      this.#host?.remove();
      return;
    }
    this.#acting = this.#held;
    this.#draw();
  }

  /** Nothing acts any more, and nobody will say so. */
  drop(): void {
    this.#open = 0;
    clearTimeout(this.#leaving);
    this.#host?.remove();
  }

  #draw(): void {
    const root = document.documentElement;
    if (!(root instanceof HTMLElement)) return; // an image, XML: the badge says it
    const { client, title } = this.#acting;
    const text = client === '' ? title : `${client}: ${title}`;
    const label = this.#label ?? this.#make();
    if (label.textContent !== text) label.textContent = text;
    if (this.#host === undefined || this.#host.isConnected) return;
    root.append(this.#host);
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
      label.animate([{ opacity: 0 }, { opacity: 1 }], fadeMs);
  }

  #make(): HTMLElement {
    const host = document.createElement('div');
    const label = document.createElement('div');
    host.setAttribute('aria-hidden', 'true');
    style(host, place);
    style(label, look);
    host.attachShadow({ mode: 'closed' }).append(label);
    this.#host = host;
    this.#label = label;
    globalThis.tabrelayMark = host;
    return label;
  }
}

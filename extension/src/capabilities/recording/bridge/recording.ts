// What a person does in a document while they record its tab, and what the page's own requests are answered: told to
// the worker, which sees the requests themselves. The person's values stay in the form: only names and kinds are told.

import { exactly, type Guard, isFlag, isNumber, isText, shape } from '../../../shared/guards.ts';
import { type Answered, recordEvent, recordWanted } from '../channel.ts';

const isAnswered: Guard<Answered> = shape({
  kind: exactly('answer'),
  method: isText,
  url: isText,
  status: isNumber,
  text: isText,
  cut: isFlag,
});

const maxLabel = 80;
const maxFields = 100;
const maxOptions = 50;

const line = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, maxLabel);

/** What a control is called, as far as it is no part of what the person reads or writes. */
function labelOf(control: Element): string {
  const said = control.getAttribute('aria-label') ?? control.getAttribute('title');
  if (said !== null && said.trim() !== '') return line(said);
  if (control instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(control.type))
    return line(control.value);
  return line(control instanceof HTMLElement ? control.innerText : (control.textContent ?? ''));
}

const controls =
  'button, input[type=submit], input[type=button], input[type=image], [role=button], [role=menuitem], [role=tab], a';

// The target may be an icon in a shadow tree inside of a button, and nothing of what the page calls a control: what
// comes of it is still not of the control that was clicked before.
function click(event: Event): object {
  const isControl = (part: EventTarget): part is Element => part instanceof Element && part.matches(controls);
  const control = event.composedPath().find(isControl);
  if (control === undefined) return { kind: 'click', label: '', page: location.href };
  const link = control.localName === 'a' && control.getAttribute('role') === null;
  return { kind: 'click', label: link ? '' : labelOf(control), page: location.href };
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLButtonElement;
const isField = (element: Element): element is Field =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLButtonElement || // the one that was pressed is sent
  element instanceof HTMLSelectElement ||
  element instanceof HTMLTextAreaElement;

function fieldOf(field: Field, form: HTMLFormElement): object {
  const label = line(Array.from(field.labels ?? [], ({ textContent }) => textContent ?? '').join(' '));
  const required = !(field instanceof HTMLButtonElement) && field.required;
  const given = field.type === 'password' && field.value !== ''; // not what: a script may send something made of it
  const about = {
    name: field.name.slice(0, 200),
    label,
    type: field.type,
    required,
    ...(given && { given }),
  };
  if (field instanceof HTMLSelectElement) {
    const options = Array.from(field.options, ({ value }) => value);
    return options.length > maxOptions ? about : { ...about, options };
  }
  if (field.type !== 'radio') return about;
  const same = Array.from(form.elements).filter(isField);
  const options = same.filter(({ name, type }) => name === field.name && type === 'radio');
  return { ...about, options: options.slice(0, maxOptions).map(({ value }) => value) };
}

function submit(event: Event): object | undefined {
  const { target } = event;
  if (!(target instanceof HTMLFormElement)) return undefined;
  const submitter = event instanceof SubmitEvent ? event.submitter : null;
  const fields = Array.from(target.elements).filter(isField);
  return {
    kind: 'submit',
    page: location.href,
    action: new URL(target.getAttribute('action') ?? '', document.baseURI).href,
    method: target.method.toUpperCase(),
    label: submitter === null ? '' : labelOf(submitter),
    fields: fields
      .filter(({ name }) => name !== '')
      .slice(0, maxFields)
      .map((field) => fieldOf(field, target)),
  };
}

export class Recording {
  readonly #tell: (told: string) => void;
  #port: MessagePort | undefined;
  #on = false;

  constructor(tell: (told: string) => void) {
    this.#tell = tell;
  }

  /** The tab is recorded from here on, or is not any more. Answers whether that is new. */
  set(on: boolean): boolean {
    if (on === this.#on) return false;
    this.#on = on;
    if (!on) {
      document.removeEventListener('click', this.#clicked, true);
      document.removeEventListener('submit', this.#submitted, true);
      document.removeEventListener(recordEvent, this.#offered);
      this.#port?.postMessage({ type: 'end' });
      this.#port = undefined;
      return true;
    }
    document.addEventListener('click', this.#clicked, true);
    document.addEventListener('submit', this.#submitted, true);
    document.addEventListener(recordEvent, this.#offered);
    document.dispatchEvent(new Event(recordWanted));
    return true;
  }

  #say(told: object | undefined): void {
    if (told !== undefined) this.#tell(JSON.stringify(told));
  }

  // Only what a person did: a script that clicks would make a plugin of something they did not ask for.
  readonly #clicked = (event: Event): void => {
    if (event.isTrusted) this.#say(click(event));
  };

  readonly #submitted = (event: Event): void => {
    if (event.isTrusted) this.#say(submit(event));
  };

  readonly #offered = (event: Event): void => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port === undefined || this.#port !== undefined) return;
    event.preventDefault();
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isAnswered(data)) this.#say(data);
    };
  };
}

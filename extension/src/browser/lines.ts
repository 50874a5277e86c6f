// What a look is made of, and what bounds it.

/** One line, and whose it is. */
export interface Line {
  depth: number;
  text: string;
  element: Element;
  ref?: string; // of the thing it begins with
  frame?: boolean; // it is a frame's, whose own lines belong below it
  modal?: boolean; // it is of a modal dialog
  parts?: readonly Part[]; // of a text whose words stand in several elements
}

/** Words of a text that stand in an element, from a place in the text on. */
export interface Part {
  element: Element;
  from: number;
}

export interface Options {
  /** Only what can be acted on. */
  interactive?: boolean;
  /** Also the items of long lists that are not on the screen, and long texts as a whole. */
  everything?: boolean;
  /** What fields hold is told up to that many characters, and texts as a whole. */
  mostOfValue?: number | undefined;
  /** Nothing is taken from a look before. */
  anew?: boolean;
  /** How long it may take; what is not written then is left out. */
  time?: Time;
}

/** A span of time that ends. */
export class Time {
  readonly #until: number;
  isOver = false;

  constructor(ms: number) {
    this.#until = performance.now() + ms;
  }

  /** Whether it has ended by now. */
  ended(): boolean {
    this.isOver ||= performance.now() > this.#until;
    return this.isOver;
  }
}

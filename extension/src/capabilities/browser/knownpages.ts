// What viewers were told of the page that a tab shows: of the next one of the same site only what is new is told.
import type { ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';

interface Told {
  origin: string;
  documentId: string;
  lines: readonly string[];
  before: readonly string[]; // of the page before that one
}

const mostPages = 20;

type Document = Pick<Bridge, 'tabId' | 'frameId' | 'origin' | 'documentId'>;

export class KnownPages {
  readonly #told = new Map<string, Told>();

  /** The lines that a viewer was told of the page before this one; undefined where that was of another site. */
  before(run: ToolRun, document: Document): readonly string[] | undefined {
    const known = this.#told.get(keyOf(run, document));
    if (known?.origin !== document.origin) return undefined;
    return known.documentId === document.documentId ? known.before : known.lines;
  }

  /** A viewer is told these lines of a page; undefined: something else of it. */
  told(run: ToolRun, document: Document, lines: readonly string[] | undefined): void {
    const { origin, documentId } = document;
    if (lines === undefined || document.frameId !== 0 || !origin.startsWith('http')) return;
    const key = keyOf(run, document);
    const before = this.before(run, document) ?? [];
    this.#told.delete(key);
    this.#told.set(key, { origin, documentId, lines, before });
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= mostPages) break;
      this.#told.delete(oldest);
    }
  }
}

const keyOf = ({ frame }: ToolRun, { tabId }: Document): string => `${tabId} ${frame.viewer ?? ''}`;

// What the worker says to a document along with a call of the browser's tools.
import type { Wanted } from './picture.ts';
import { adopt } from './references.ts';

/** What the worker adds to the arguments of every call. */
interface Told {
  prefix: string; // of references of this document
  first: number; // for its references to begin with
  viewer: string;
  tokens?: number; // that the answer may cost
  bytes?: number; // that it may take
  sensitive?: boolean; // the person has allowed this call to act on sensitive fields
  preview?: boolean; // only what the call would do is told
  now?: boolean; // what is not there yet is not waited for
  agreed?: unknown; // what the person was shown of that, and has allowed
  trusted?: boolean; // the worker does what has to be a person's doing
  settle?: boolean; // an act was answered for before the page had settled
  wanted?: Wanted; // of a picture
  news?: boolean; // what is different is told with what was waited for: no other document is asked
  waitedMs?: number; // when this part of a wait ends, since all of it began
  before?: readonly string[]; // lines that the viewer was told of the page before this one, at the same site
  part?: string; // as which part of a page the document is looked at, where that is not all of it
}

/** Takes from the arguments what the worker has added. */
export function told(args: object): Told {
  const said: unknown = Reflect.get(args, '_');
  const standard = { prefix: 'e', first: 1, viewer: '' };
  const known: Told = typeof said === 'object' && said !== null ? { ...standard, ...said } : standard;
  adopt(known.prefix, known.first);
  return known;
}

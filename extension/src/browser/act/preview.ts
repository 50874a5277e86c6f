// What an act will be done to, told before it is done, so that a person can say whether it may be. Nothing is changed.
import { formAt, isSubmitter, partsOf, submitterAt } from '../forms.ts';
import { inWords } from '../inwords.ts';
import { isGone, reference } from '../references.ts';
import { element } from '../resolved.ts';
import { sensitivity } from '../secrets.ts';
import { targetOf } from '../targets.ts';
import { type Agreement, documentNow, type Slot, stillTold } from './agreed.ts';
import * as read from './arguments.ts';
import { page } from './document.ts';
import { focusedIn } from './dom.ts';
import { check, fieldOf, kindOf } from './fields.ts';
import { type Held, heldBy } from './held.ts';
import { readKeys } from './keys.ts';
import { refusePickers, refuseUsedAgain } from './refusing.ts';
import { partWith } from './words.ts';

/** A target, and what the relay says of it besides. */
interface Foretold extends Slot {
  kind?: string; // of a field: how its value is put there
  secret?: string; // why it asks the person each time
  sends?: true; // what is done there sends its form,
  holds?: Held[]; // which holds this besides
  more?: number; // and that many other fields
  filled?: string[]; // these are filled before, by the same call
  sender?: string; // the target itself
  digest?: string; // of all that the form holds
}

export interface Preview extends Agreement {
  origin: string;
  steps: (Foretold | null)[][];
}

export interface Step {
  tool: string;
  args: read.Given;
}

/** Tells what steps will be done to. What the first one names must be there. */
export function preview(viewer: string, steps: readonly Step[]): Preview {
  const filled = new Set<Element>();
  return {
    document: documentNow(),
    origin: self.origin,
    steps: steps.map((step, i) => foretell(step, { viewer, first: i === 0, filled })),
  };
}

interface Asked {
  viewer: string; // who calls
  first: boolean; // nothing was done before
  filled: Set<Element>; // fields that this step and those before it fill
}

function foretell({ tool, args }: Step, asked: Asked): (Foretold | null)[] {
  if (tool === 'fill') {
    const submits = Reflect.get(args, 'submit') === true;
    const fields = read.fields(args);
    return fields.map(({ ref, value }, i) => field(ref, value, asked, submits && i === fields.length - 1));
  }
  const refs = targetsOf(args);
  if (refs.length === 0) return tool === 'press' ? [focusTarget(args, asked)] : [];
  return refs.map((ref) => thing(ref, { tool, args }, asked));
}

/** The references of a step, in the order in which its targets are told. */
export const targetsOf = (args: read.Given): string[] =>
  ['ref', 'to'].flatMap((name) => {
    const value: unknown = Reflect.get(args, name);
    const isPlace = name === 'to' && (value === 'start' || value === 'end');
    return typeof value === 'string' && !isPlace ? [value] : [];
  });

// What a reference names. Later steps can name what only an earlier one brings.
function found(ref: string, { viewer, first }: Asked): Element | undefined {
  const named = first ? element(ref) : (inWords(ref) ?? page.resolve(ref));
  if (isGone(named)) return undefined;
  stillTold(viewer, named);
  return named;
}

function thing(ref: string, { tool, args }: Step, asked: Asked): Foretold {
  const whole = found(ref, asked);
  if (whole === undefined) return { words: ref };
  const words = tool === 'click' ? read.optionalText(args, 'at') : undefined;
  const target = words === undefined ? whole : partWith(page, whole, words);
  if (asked.first) refuseUsedAgain(target);
  if (asked.first && tool === 'click') refusePickers(target);
  const sends =
    tool === 'click' ? submitterAt(target) !== undefined : tool === 'press' && sendsBy(target, args);
  return toldOf(target, sends, asked);
}

function field(ref: string, value: read.Field['value'], asked: Asked, sends: boolean): Foretold {
  const target = found(ref, asked);
  if (target === undefined) return { words: ref };
  const kind = asked.first ? check(page, fieldOf(target), value) : kindOf(fieldOf(target));
  asked.filled.add(fieldOf(target));
  return { ...toldOf(target, sends, asked), ...(kind !== undefined && { kind }) };
}

function focusTarget(args: read.Given, asked: Asked): Foretold | null {
  const focus = focusedIn(document);
  return focus === null || focus === document.body ? null : toldOf(focus, sendsBy(focus, args), asked);
}

// Enter sends the form of a field, and the blank one that is pressed on its button.
function sendsBy(target: Element, args: read.Given): boolean {
  const [keys, text] = [read.optionalText(args, 'keys'), read.optionalText(args, 'text')];
  const pressed = keys === undefined ? Array.from(text ?? '') : readKeys(keys).map(({ key }) => key);
  const isEnter = (key: string) => key === 'Enter' || key === '\n' || key === '\r';
  return pressed.some((key) => isEnter(key) || (key === ' ' && isSubmitter(target)));
}

function toldOf(at: Element, sends: boolean, { filled }: Asked): Foretold {
  reference(at);
  const secret = sensitivity(fieldOf(at));
  const target = targetOf(at);
  const isSent = sends && target.form !== undefined && target.form !== 'DIALOG';
  return { ...target, ...(secret !== undefined && { secret }), ...(isSent && sentWith(at, filled)) };
}

function sentWith(at: Element, filled: ReadonlySet<Element>): Partial<Foretold> {
  const { holds, more, digest } = heldBy(at, filled, documentNow());
  const form = formAt(at);
  const own = form === undefined ? [] : partsOf(form).filter((one) => filled.has(one));
  return {
    sends: true,
    sender: reference(at),
    digest,
    ...(holds.length > 0 && { holds }),
    ...(more > 0 && { more }),
    ...(own.length > 0 && { filled: own.map(reference) }),
  };
}

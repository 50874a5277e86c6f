// Answers a list or a text in parts: as much of it as was asked for and as fits into the answer, and where the next
// part begins. What the relay would have to cut off an answer is never sent, so that nothing is lost between two
// parts.

import * as s from './json-schema.ts';
import { fail } from './result.ts';
import { defaultMaxBytes, jsonBytes, largest, measure, wellFormed, wholeTo } from './truncate.ts';

/** JSON Schema of the arguments that say which part of a list: properties of a tool's input. */
export const pagingInput = {
  limit: /* @__PURE__ */ s.integer('How many entries at most.', { minimum: 1, maximum: 500, default: 50 }),
  offset: /* @__PURE__ */ s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
};

/** JSON Schema of what [listPage] says about the whole: properties of a tool's output; `total` is required. */
export const pagingOutput = {
  total: /* @__PURE__ */ s.integer('How many there are, all parts together.'),
  nextOffset: /* @__PURE__ */ s.optional(/* @__PURE__ */ s.integer('Present when there are more.')),
};

/** JSON Schema of the arguments that say which part of a text: properties of a tool's input. */
export const textInput = {
  offset: /* @__PURE__ */ s.integer('Where to start: nextOffset of the previous answer.', {
    minimum: 0,
    default: 0,
  }),
  maxChars: /* @__PURE__ */ s.integer('How much text at most.', {
    minimum: 100,
    maximum: 100_000,
    default: 8000,
  }),
};

/** JSON Schema of what [textPage] answers: properties of a tool's output; `text` and `totalChars` are required. */
export const textOutput = {
  text: /* @__PURE__ */ s.string(),
  totalChars: /* @__PURE__ */ s.integer(),
  nextOffset: /* @__PURE__ */ s.optional(/* @__PURE__ */ s.integer('Present when there is more text.')),
};

/** Where a part of a list stands in the whole. */
export interface Paging {
  total: number;
  nextOffset?: number;
}

/** A part of a text, and where it stands in the whole. */
export interface TextPart {
  text: string;
  totalChars: number;
  nextOffset?: number;
}

/** How large an answer may be: `maxBytes` of the tool's context. Undefined where the relay does not say. */
interface Budget {
  maxBytes?: number | undefined;
}

/**
 * Answers the entries of a list from `offset` on: at most `limit`, and as many as fit. `answer` makes the whole
 * answer. An entry that is too large by itself is answered alone; the relay then shortens it, and keeps it whole.
 *
 * @example
 * async handle({ limit, offset }, { signal, maxBytes }) {
 *   const orders = await readOrders(signal);
 *   return listPage(orders, { limit, offset, maxBytes }, (orders, paging) => ({ orders, ...paging }));
 * }
 */
export function listPage<Item, Answer>(
  all: readonly Item[],
  { limit, offset, ...budget }: Budget & { limit: number; offset: number },
  answer: (items: Item[], paging: Paging) => Answer,
): Answer {
  return listPart(all.slice(offset, offset + limit), { offset, total: all.length, ...budget }, answer);
}

/** The same for a list of `total` entries of which the application gave only these, from `offset` on. */
export function listPart<Item, Answer>(
  items: readonly Item[],
  { offset, total, ...budget }: Budget & { offset: number; total: number },
  answer: (items: Item[], paging: Paging) => Answer,
): Answer {
  const make = (count: number) => {
    const next = offset + count;
    return answer(items.slice(0, count), {
      total,
      ...(count > 0 && next < total ? { nextOffset: next } : {}),
    });
  };
  return make(fitting(items.length, budget, make));
}

/** How many of `most` entries fit into an answer: at least one, when there is one. */
export function fitting(most: number, budget: Budget, answer: (count: number) => unknown): number {
  // All may fit where one less does not: an answer to the end has no nextOffset.
  if (most === 0 || fits(answer(most), budget)) return most;
  return Math.max(
    1,
    largest(most - 1, (count) => fits(answer(count), budget)),
  );
}

/** The first entries of a list that stands beside a text: those that leave three quarters of the answer to it. */
export function listBeside<Item>(items: readonly Item[], budget: Budget): Item[] {
  const share = bytesOf(budget) / 4;
  return items.slice(
    0,
    largest(items.length, (count) => jsonBytes(items.slice(0, count)) <= share),
  );
}

/**
 * Answers a text from `offset` on: at most `maxChars` characters, and as many as fit. `answer` makes the whole
 * answer. Fails with OUTPUT_TOO_LARGE where not even one character fits. Halves of surrogate pairs become U+FFFD, as
 * in every answer.
 *
 * @example textPage(article, { offset, maxChars, maxBytes }, (part) => ({ title, ...part }))
 */
export function textPage<Answer>(
  source: string,
  { offset, maxChars, ...budget }: Budget & { offset: number; maxChars: number },
  answer: (part: TextPart) => Answer,
): Answer {
  const whole = wellFormed(source);
  const start = wholeTo(whole, Math.min(offset, whole.length));
  const make = (count: number) => {
    const end = wholeTo(whole, start + count);
    const more = end < whole.length ? { nextOffset: end } : {};
    return answer({ text: whole.slice(start, end), totalChars: whole.length, ...more });
  };
  // A pair is one character, also where only half of it was asked for.
  const first = wholeTo(whole, start + 1) > start ? 1 : 2;
  const most = Math.min(Math.max(maxChars, first), whole.length - start);
  const all = make(most);
  if (fits(all, budget)) return all;
  const count = largest(Math.min(most - 1, bytesOf(budget)), (chars) => fits(make(chars), budget));
  if (count >= first) return make(count);
  const least = jsonBytes(make(Math.min(first, most)));
  return fail({
    type: 'output_too_large',
    message: `The answer takes ${least} bytes with one character of the text, and ${bytesOf(budget)} are allowed.`,
    hint: `Call again with a maxBytes of at least ${least}; 1000 more make sense.`,
  });
}

const bytesOf = ({ maxBytes = defaultMaxBytes }: Budget): number => maxBytes;

/** The relay replaces half a surrogate pair and says so, and that takes room in the answer. */
const warningBytes = 200;

const fits = (answer: unknown, budget: Budget): boolean => {
  const { json, bytes } = measure(answer);
  return bytes + (/\\ud[89a-f]/.test(json) ? warningBytes : 0) <= bytesOf(budget);
};

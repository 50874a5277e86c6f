// Runs code of an agent among the scripts of the page, once.
import { call, getterOf, indexOf, property, settle, slice, stringOf } from '../../../shared/primordials.ts';
import { type Limits, plain, worded } from './plain.ts';

/** The code as it reads if it is an expression, and if it is not. */
export interface Code {
  expression: string;
  statements: string;
}

/** What came of it. */
export type Evaluated =
  | { value: unknown; truncated: boolean; nothing: boolean }
  | { problem: 'threw' | 'syntax' | 'forbidden'; message: string; line?: number; column?: number };

// biome-ignore lint/complexity/useArrowFunction: its constructor is that of async functions
const AsyncFunctionCtor: unknown = async function () {}.constructor;
const EvalErrorOfPage = EvalError;
const sourceName = 'tabrelay-evaluate';
const linesBefore = 2; // that the constructor of functions puts before the code

const messageOf = getterOf({ prototype: new Error('') }, 'message');

function compile({ expression, statements }: Code): unknown {
  if (typeof AsyncFunctionCtor !== 'function') return undefined;
  const name = `\n//# sourceURL=${sourceName}`;
  try {
    return call(AsyncFunctionCtor, undefined, [`return (${expression}\n)${name}`]);
  } catch (thrown) {
    if (isForbidden(thrown)) throw thrown;
    return call(AsyncFunctionCtor, undefined, [`${statements}${name}`]);
  }
}

const isForbidden = (thrown: unknown): boolean =>
  thrown instanceof EvalErrorOfPage ||
  (thrown instanceof Error && indexOf(messageOf(thrown), 'Trusted') >= 0);

// The place in the code that a stack names first.
function placeIn(thrown: unknown): { line?: number; column?: number } {
  let stack = '';
  try {
    stack = thrown instanceof Error ? stringOf(property(thrown, 'stack')) : '';
  } catch {
    return {};
  }
  const at = indexOf(stack, `${sourceName}:`);
  if (at < 0) return {};
  const found = /^(\d+):(\d+)/.exec(slice(stack, at + sourceName.length + 1, at + sourceName.length + 20));
  const line = Number(found?.[1]) - linesBefore;
  return line > 0 ? { line, column: Number(found?.[2]) } : {};
}

/** Evaluates an expression, calls a function, or runs statements that return something; promises are awaited. */
export function evaluate(code: Code, limits: Limits, done: (ended: Evaluated) => void): void {
  let compiled: unknown;
  try {
    compiled = compile(code);
  } catch (thrown) {
    done({ problem: isForbidden(thrown) ? 'forbidden' : 'syntax', message: worded(thrown) });
    return;
  }
  const failed = (thrown: unknown) => done({ problem: 'threw', message: worded(thrown), ...placeIn(thrown) });
  const answer = (value: unknown) => {
    const taken = plain(value, limits);
    done({ ...taken, nothing: value === undefined });
  };
  const called = (value: unknown) => {
    if (typeof value !== 'function') return answer(value);
    try {
      settle(call(value, undefined, []), answer, failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
  if (typeof compiled === 'function') settle(call(compiled, undefined, []), called, failed);
  else done({ problem: 'forbidden', message: 'no function could be made' });
}

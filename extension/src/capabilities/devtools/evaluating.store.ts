// Runs an agent's code in the page as a user script, for who has switched those on. A page cannot forbid it.
import { redactValue } from '../../browser/dev/redact.ts';
import { isRecord, isText } from '../../shared/guards.ts';
import { scriptsNeededKey } from '../../shared/needed.ts';
import { switchUserScriptsOn, userScriptsAreOn } from '../../shared/user-scripts.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { DevPages } from './pages.ts';
import { describe } from './value.ts';

const limits = { parts: 100_000, characters: 8_000_000, depth: 40 };

const sourceName = 'tabrelay-evaluate';
const placePattern = new RegExp(`${sourceName}:(\\d{1,6}):(\\d{1,6})`);

/** Code that gives what the code of an agent gave, or threw, as data: always, if it can be read at all. */
function told(made: string): string {
  // Strict, so that `this` stays the very value: a text would become an object otherwise.
  const described = `(() => {"use strict"; return ${String(describe)}})()`;
  return `(async () => {try {const value = await (${made}); return {
    said: ${described}.call(value, ${JSON.stringify(limits)}), nothing: value === undefined};
  } catch (thrown) {let threw = "It threw what cannot be read"; try {threw = \`\${thrown}\`} catch {}
    let stack = ""; try {stack = \`\${thrown.stack}\`} catch {} return {threw, stack}}})()
//# sourceURL=${sourceName}`;
}

/** Code that gives true where another can be read, and does not run that. */
const readable = (body: string): string => `((_) => true)(async () => {${body}\n})`;

export function evaluating(pages: DevPages): ToolHandler {
  return async (run) => {
    const bridge = await pages.of(run);
    run.isFor(bridge);
    await run.admit(bridge);
    if (!(await userScriptsAreOn())) {
      await chrome.storage.local.set({ [scriptsNeededKey]: [] });
      throw Ended.as('BROWSER_PERMISSION_MISSING', 'The person has not allowed user scripts', {
        category: 'auth',
        hint: switchUserScriptsOn(),
      });
    }
    await run.begins();
    const code = isText(run.args.code) ? run.args.code : '';
    const bare = code.replace(/[;\s]+$/, '');
    const target = { tabId: bridge.tabId, documentIds: [bridge.documentId] };
    const reads = async (body: string) => (await execute(target, readable(body))) === true;
    let made: string;
    if (await reads(`return (${bare}\n)`))
      made = `(async () => {const made = (\n${bare}\n); return typeof made === 'function' ? made() : made})()`;
    else if (await reads(code)) made = `(async () => {\n${code}\n})()`;
    else
      throw Ended.as('VALIDATION_ERROR', 'The code cannot be read: it has a syntax error', {
        category: 'validation',
      });
    // From here on it may have run: once, and wholly or in part, where its end is not seen.
    const answer = await Promise.race([aborted(run), execute(target, told(made))]).catch((why) => {
      throw unseen('TAB_CHANGED', why);
    });
    if (answer === cancelled) throw unseen('TIMEOUT', 'the call was over before it');
    if (!isRecord(answer)) throw unseen('TAB_CHANGED', 'the page went away');
    return readAnswer(answer);
  };
}

const cancelled = Symbol('cancelled');

const aborted = ({ signal }: ToolRun): Promise<typeof cancelled> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(cancelled);
    else signal.addEventListener('abort', () => resolve(cancelled));
  });

const unseen = (code: 'TIMEOUT' | 'TAB_CHANGED', why: unknown): Ended =>
  new Ended({
    status: 'refused',
    started: true,
    refusal: { code, message: `The code was not seen to end: ${String(why)}`, outcome: 'unknown' },
  });

async function execute(target: chrome.userScripts.InjectionTarget, code: string): Promise<unknown> {
  const [found] = await chrome.userScripts.execute({
    target,
    js: [{ code }],
    world: 'MAIN',
    injectImmediately: true,
  });
  return found?.result;
}

/** The place in the agent's code, which begins on the second line, that a stack names first. */
function placeIn(stack: unknown): string {
  const [, line = 0, column] = isText(stack) ? (placePattern.exec(stack) ?? []) : [];
  return Number(line) > 1 ? ` (line ${Number(line) - 1}, column ${column})` : '';
}

function readAnswer({ said, nothing, threw, stack }: Record<string, unknown>): unknown {
  if (isText(threw))
    throw Ended.as('EVALUATION_FAILED', `${threw}${placeIn(stack)}`, {
      category: 'validation',
      outcome: 'executed',
      hint: 'The code ran until there: what it did before is done.',
    });
  const { value = null, truncated = false } = isRecord(said) ? said : {};
  return {
    ...(nothing === true ? { undefined: true } : { value: redactValue(value) }),
    ...(truncated === true && { truncated: true }),
  };
}

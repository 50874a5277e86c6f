// Runs an agent's code in the page as a user script, for who has switched those on. A page cannot forbid it.
import { redactValue } from '../../browser/dev/redact.ts';
import { isRecord, isText } from '../../shared/guards.ts';
import { scriptsNeededKey } from '../../shared/needed.ts';
import { switchUserScriptsOn, userScriptsAreOn } from '../../shared/user-scripts.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { DevPages } from './pages.ts';
import { describe } from './value.ts';

const limits = { parts: 100_000, characters: 8_000_000, depth: 40 };

/** Code that gives what the code of an agent gave, or threw, as data; nothing at all where it cannot be read. */
function told(made: string): string {
  // Strict, so that `this` stays the very value: a text would become an object otherwise.
  const described = `(() => {"use strict"; return ${String(describe)}})()`;
  return `(async () => {try {const value = await (${made}); return {
    said: ${described}.call(value, ${JSON.stringify(limits)}), nothing: value === undefined};
  } catch (thrown) {return {threw: String(thrown)}}})()`;
}

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
    run.begins();
    const code = isText(run.args.code) ? run.args.code : '';
    const bare = code.replace(/[;\s]+$/, '');
    const expression = told(
      `(async () => {const made = (${bare}\n); return typeof made === 'function' ? made() : made})()`,
    );
    const target = { tabId: bridge.tabId, documentIds: [bridge.documentId] };
    for (const text of [expression, told(`(async () => {${code}\n})()`)]) {
      const answer = await execute(run, target, text);
      if (isRecord(answer)) return readAnswer(answer);
    }
    throw Ended.as('VALIDATION_ERROR', 'The code cannot be read: it has a syntax error', {
      category: 'validation',
    });
  };
}

async function execute(
  { signal }: ToolRun,
  target: chrome.userScripts.InjectionTarget,
  code: string,
): Promise<unknown> {
  const over = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(Ended.before('CANCELLED', 'The call was cancelled'))),
  );
  const [found] = await Promise.race([
    over,
    chrome.userScripts.execute({ target, js: [{ code }], world: 'MAIN', injectImmediately: true }),
  ]);
  return found?.result;
}

function readAnswer({ said, nothing, threw }: Record<string, unknown>): unknown {
  if (isText(threw))
    throw Ended.as('EVALUATION_FAILED', threw, {
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

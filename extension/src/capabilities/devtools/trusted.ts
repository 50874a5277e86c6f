// Tools for developers that need Chrome's debugger.

import { redactValue } from '../../browser/dev/redact.ts';
import { isNumber, isRecord, isText } from '../../shared/guards.ts';
import { DocumentCover } from '../../worker/calls/cover.ts';
import {
  type Command,
  debugging,
  hasDebugger,
  hold,
  holds,
  needsDebugger,
  release,
} from '../../worker/calls/debugger.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import { shownBy } from './site.ts';
import { describe } from './value.ts';

const mostPdf = 6 * 1024 * 1024; // of its Base64: a result has 10 MiB at the most

/** A PDF of the page, in which documents that may not be read are black. */
export const printing =
  (documents: Documents): ToolHandler =>
  async (run) => {
    const hidden = new DocumentCover(run, documents);
    try {
      return await debugging(run, 'A PDF of the page', (send) => print(run, hidden, send));
    } finally {
      await hidden.uncover();
    }
  };

async function print(run: ToolRun, hidden: DocumentCover, send: Command): Promise<unknown> {
  const { landscape = false, background = true, pages } = run.args;
  const printed = await hidden
    .captureCovered(() =>
      send('Page.printToPDF', {
        landscape,
        printBackground: background,
        ...(isText(pages) && { pageRanges: pages }),
      }),
    )
    .catch((why: unknown) => {
      throw Ended.as('PDF_FAILED', `Chrome made no PDF: ${told(why)}`, { category: 'internal' });
    });
  if (printed === undefined || (await hidden.hasUncovered()))
    throw Ended.as('PDF_FAILED', 'Frames of the page may not be read, and cannot be left out', {
      category: 'validation',
    });
  const { data } = printed;
  if (!isText(data)) throw Ended.as('PDF_FAILED', 'Chrome made no PDF', { category: 'internal' });
  if (data.length > mostPdf)
    throw Ended.as('OUTPUT_TOO_LARGE', 'The PDF is too large', {
      hint: 'Ask for some pages, such as 1-10.',
    });
  const bytes = Math.floor((data.length * 3) / 4);
  return {
    content: [
      { type: 'text', text: `A PDF of the page, ${bytes} bytes.` },
      { type: 'resource', data, mimeType: 'application/pdf', name: `page-${run.tabId}.pdf` },
    ],
  };
}

// The message of an error of the debugger is JSON.
function told(why: unknown): string {
  const text = why instanceof Error ? why.message : String(why);
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) && isText(parsed.message) ? parsed.message : text;
  } catch {
    return text;
  }
}

async function apply(send: Command, args: Record<string, unknown>): Promise<void> {
  const { viewport, colorScheme, reducedMotion, offline, geolocation, userAgent, cpu } = args;
  if (isRecord(viewport)) {
    const { width = 0, height = 0, scale = 0, mobile = false } = viewport;
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile });
    await send('Emulation.setTouchEmulationEnabled', { enabled: mobile === true });
  }
  const features = [
    ...(isText(colorScheme) ? [{ name: 'prefers-color-scheme', value: colorScheme }] : []),
    ...(reducedMotion === undefined
      ? []
      : [{ name: 'prefers-reduced-motion', value: reducedMotion === true ? 'reduce' : 'no-preference' }]),
  ];
  if (features.length > 0) await send('Emulation.setEmulatedMedia', { features });
  if (typeof offline === 'boolean') {
    await send('Network.enable');
    const rate = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await send('Network.emulateNetworkConditions', { offline, ...rate });
  }
  if (isRecord(geolocation)) await send('Emulation.setGeolocationOverride', { accuracy: 10, ...geolocation });
  if (isText(userAgent)) await send('Emulation.setUserAgentOverride', { userAgent });
  if (isNumber(cpu)) await send('Emulation.setCPUThrottlingRate', { rate: cpu });
}

export const emulating: ToolHandler = async (run) => {
  const { tabId, args } = run;
  if (!hasDebugger()) throw needsDebugger('Emulation');
  const { reset = false, ...wanted } = args;
  await run.begins();
  if (reset === true) {
    await release(tabId);
    return { emulating: false };
  }
  if (Object.keys(wanted).length === 0) return { emulating: holds(tabId) };
  const before = holds(tabId);
  await hold(tabId);
  try {
    await debugging(run, 'Emulation', (send) => apply(send, wanted));
  } catch (why) {
    if (!before) await release(tabId);
    if (why instanceof Ended) throw why;
    throw Ended.as('VALIDATION_ERROR', `Chrome does not emulate that: ${told(why)}`, {
      category: 'validation',
    });
  }
  const note =
    'Chrome shows a bar until this is reset, the tab is closed, or ten minutes pass without a call of emulate.';
  return { emulating: true, note };
};

const isSyntax = (answer: Record<string, unknown>) =>
  isRecord(answer.exceptionDetails) && answer.exceptionDetails.exception !== undefined;

// The code may have run, wholly or in part.
const unknown = (why: unknown): Ended =>
  new Ended({
    status: 'refused',
    started: true,
    refusal: {
      code: /terminated/i.test(told(why)) ? 'TIMEOUT' : 'TAB_CHANGED',
      message: `The code was not seen to end: ${told(why)}`,
      outcome: 'unknown',
    },
  });

function thrown({ exception, text, lineNumber }: Record<string, unknown>): Ended {
  const words =
    isRecord(exception) && isText(exception.description) ? exception.description.split('\n')[0] : text;
  const line = isNumber(lineNumber) ? ` (line ${lineNumber + 1})` : '';
  return Ended.as('EVALUATION_FAILED', `${String(words)}${line}`, {
    category: 'validation',
    outcome: 'executed',
  });
}

const limits = { parts: 100_000, characters: 8_000_000, depth: 40 };

// What the code gave, as data; what is no data is described in the page.
async function toldOf(send: Command, result: unknown): Promise<Record<string, unknown>> {
  if (!isRecord(result) || result.type === 'undefined') return { undefined: true };
  const { objectId, type, value, unserializableValue, description } = result;
  if (!isText(objectId) || type === 'symbol')
    return { value: redactValue(value ?? unserializableValue ?? description ?? null) };
  const answer = await send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: String(describe),
    arguments: [{ value: limits }],
    returnByValue: true,
  }).catch((why: unknown) => ({ result: { value: { value: `[could not be told: ${told(why)}]` } } }));
  const described = isRecord(answer.result) && isRecord(answer.result.value) ? answer.result.value : {};
  return {
    value: redactValue(described.value ?? null),
    ...(described.truncated === true && { truncated: true }),
  };
}

/** Runs code where the page forbids that text becomes code; nothing of it has run before. */
export async function evaluateAnyway(run: ToolRun): Promise<unknown> {
  const code = isText(run.args.code) ? run.args.code : '';
  return debugging(run, 'Code in this page', async (send) => {
    const { origin } = await shownBy(run);
    if (run.signal.aborted) throw Ended.before('CANCELLED', 'The call was cancelled');
    const elsewhere = `elsewhere ${crypto.randomUUID()}`;
    // Asked in the very step in which the code begins: the tab may go to another site at any moment before.
    const here = (script: string) =>
      `location.origin === ${JSON.stringify(origin)} ? ${script} : ${JSON.stringify(elsewhere)}`;
    const bare = code.replace(/[;\s]+$/, '');
    const call = "return typeof made === 'function' ? made() : made";
    const expression = here(`(async () => {const made = (${bare}\n); ${call}})()`);
    await send('Runtime.enable');
    const compiled = await send('Runtime.compileScript', { expression, sourceURL: '', persistScript: false });
    await run.begins();
    const answer = await send('Runtime.evaluate', {
      expression: isSyntax(compiled) ? here(`(async () => {${code}\n})()`) : expression,
      awaitPromise: true,
      timeout: run.leftMs,
    }).catch((why: unknown) => {
      throw unknown(why);
    });
    if (isRecord(answer.exceptionDetails)) throw thrown(answer.exceptionDetails);
    if (isRecord(answer.result) && answer.result.value === elsewhere)
      throw Ended.before('TAB_CHANGED', 'The tab went to another page before the code began');
    return toldOf(send, answer.result);
  });
}

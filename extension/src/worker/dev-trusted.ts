// Tools for developers that need Chrome's debugger.
import { isNumber, isRecord, isText } from '../page/guards.ts';
import { Ended, type Performer, type Stage } from './conductor.ts';
import { type Command, debugging, hasDebugger, hold, holds, needsDebugger, release } from './debugger.ts';

const mostPdf = 6 * 1024 * 1024; // of its Base64: a result has 10 MiB at the most

export const printing: Performer = (stage) =>
  debugging(stage.tabId, 'A PDF of the page', async (send) => {
    const { landscape = false, background = true, pages } = stage.args;
    const { data } = await send('Page.printToPDF', {
      landscape,
      printBackground: background,
      ...(isText(pages) && { pageRanges: pages }),
    }).catch((why: unknown) => {
      throw Ended.as('PDF_FAILED', `Chrome made no PDF: ${told(why)}`, { category: 'internal' });
    });
    if (!isText(data)) throw Ended.as('PDF_FAILED', 'Chrome made no PDF', { category: 'internal' });
    if (data.length > mostPdf)
      throw Ended.as('OUTPUT_TOO_LARGE', 'The PDF is too large', {
        hint: 'Ask for some pages, such as 1-10.',
      });
    const bytes = Math.floor((data.length * 3) / 4);
    return {
      content: [
        { type: 'text', text: `A PDF of the page, ${bytes} bytes.` },
        { type: 'resource', data, mimeType: 'application/pdf', name: `page-${stage.tabId}.pdf` },
      ],
    };
  });

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

export const emulating: Performer = async (stage) => {
  const { tabId, args } = stage;
  if (!hasDebugger()) throw needsDebugger('Emulation');
  const { reset = false, ...wanted } = args;
  stage.begins();
  if (reset === true) {
    await release(tabId);
    return { emulating: false };
  }
  if (Object.keys(wanted).length === 0) return { emulating: holds(tabId) };
  await hold(tabId);
  try {
    await debugging(tabId, 'Emulation', (send) => apply(send, wanted));
  } catch (why) {
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

/** Runs code where the page forbids that text becomes code; nothing of it has run before. */
export async function evaluateAnyway(stage: Stage): Promise<unknown> {
  const code = isText(stage.args.code) ? stage.args.code : '';
  return debugging(stage.tabId, 'Code in this page', async (send) => {
    const bare = code.replace(/[;\s]+$/, '');
    const call = "return typeof made === 'function' ? made() : made";
    const expression = `(async () => {const made = (${bare}\n); ${call}})()`;
    await send('Runtime.enable');
    const compiled = await send('Runtime.compileScript', { expression, sourceURL: '', persistScript: false });
    const chosen = isSyntax(compiled) ? `(async () => {${code}\n})()` : expression;
    const answer = await send('Runtime.evaluate', {
      expression: chosen,
      awaitPromise: true,
      returnByValue: true,
      timeout: stage.leftMs,
    });
    if (isRecord(answer.exceptionDetails)) {
      const { exception, text, lineNumber } = answer.exceptionDetails;
      const words =
        isRecord(exception) && isText(exception.description) ? exception.description.split('\n')[0] : text;
      const line = isNumber(lineNumber) ? ` (line ${lineNumber + 1})` : '';
      throw Ended.as('EVALUATION_FAILED', `${String(words)}${line}`, {
        category: 'validation',
        outcome: 'executed',
      });
    }
    const { result } = answer;
    if (!isRecord(result) || result.type === 'undefined') return { undefined: true };
    return { value: result.value ?? result.unserializableValue ?? result.description ?? null };
  });
}

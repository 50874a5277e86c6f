// Clicks that count as a person's. The page finds the place and sees that nothing covers it; Chrome does the rest.

import { isFlag, isNumber, isRecord, isText, listOf, shape } from '../../shared/guards.ts';
import { debugging, hasDebugger, needsDebugger } from '../../worker/calls/debugger.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';

const isPlace = shape({
  x: isNumber,
  y: isNumber,
  button: isText,
  count: isNumber,
  modifiers: listOf(isText),
  inFrame: isFlag, // what is to be clicked is a frame
});
const bits = new Map([
  ['Alt', 1],
  ['Control', 2],
  ['Meta', 4],
  ['Shift', 8],
]);

const inFrame = /^f\d+e\d+$/;

const untilThen = (why: unknown): Ended =>
  new Ended({
    status: 'refused',
    started: true,
    refusal: {
      code: 'TAB_CHANGED',
      message: `The click was not seen to end: ${why instanceof Error ? why.message : String(why)}`,
      outcome: 'unknown',
    },
  });

/**
 * Fails where a click would reach a frame that the call may not touch, or that has come over what was to be clicked.
 */
async function admitPoint(
  run: ToolRun,
  documents: Documents,
  { x, y, inFrame: wanted }: { x: number; y: number; inFrame: boolean },
): Promise<void> {
  const [said] = await chrome.scripting.executeScript({
    target: { tabId: run.tabId },
    injectImmediately: true,
    args: [x, y],
    func: (left: number, top: number) => {
      let hit = document.elementFromPoint(left, top);
      while (hit?.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(left, top);
        if (inner === null || inner === hit) break;
        hit = inner;
      }
      if (hit === null || !hit.matches('iframe, frame, object, embed, fencedframe')) return null;
      const frame =
        hit instanceof HTMLIFrameElement || hit instanceof HTMLObjectElement ? hit.contentWindow : null;
      for (let i = 0; i < window.length; i++) if (window[i] === frame) return i;
      return -1;
    },
  });
  const index = said?.result;
  if (!isNumber(index)) return;
  if (!wanted)
    throw Ended.as('TARGET_COVERED', 'A frame came over it under the pointer', {
      category: 'validation',
      hint: 'Close or move what covers it first',
    });
  const inside = (await documents.allSpots(run)).filter((one) => one.parentFrameId === 0);
  const hit = inside.filter((one) => (index < 0 ? one.index < 0 : one.index === index || one.index === -2));
  for (const { closed } of hit) if (closed !== undefined) throw run.closedBy(closed);
}

async function clickAt(
  run: ToolRun,
  documents: Documents,
  documentId: string,
  place: unknown,
): Promise<void> {
  if (!isPlace(place)) return;
  const { x, y, button, count, inFrame: wanted } = place;
  const modifiers = place.modifiers.reduce((sum, name) => sum + (bits.get(name) ?? 0), 0);
  await debugging(run, 'A trusted click', async (send) => {
    const at = { x, y, modifiers };
    await send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...at });
    const now = await chrome.webNavigation.getFrame({ tabId: run.tabId, frameId: 0 });
    if (now?.documentId !== documentId)
      throw Ended.before('TAB_CHANGED', 'The tab went to another page before the click');
    await admitPoint(run, documents, { x, y, inFrame: wanted });
    try {
      for (let clickCount = 1; clickCount <= count; clickCount++) {
        await send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at, button, clickCount });
        await send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at, button, clickCount });
      }
    } catch (why) {
      throw untilThen(why);
    }
  });
}

/** A click as the page does it, but for one that is to be trusted: that one is done once, by Chrome. */
export function clicking(perform: ToolHandler, documents: Documents): ToolHandler {
  return async (run) => {
    if (run.args.trusted !== true) return perform(run);
    if (!hasDebugger()) throw needsDebugger('A trusted click');
    const top = await run.top();
    if (isText(run.args.ref) && inFrame.test(run.args.ref))
      throw Ended.as(
        'NEEDS_TRUSTED_INPUT',
        'A trusted click reaches the page itself only, none of its frames',
        {
          category: 'validation',
        },
      );
    let refused: unknown;
    let done = false;
    run.lend(top, (line) => {
      if (done || line.message !== 'trusted' || !isRecord(line.data)) return;
      done = true; // once, whatever the page says
      clickAt(run, documents, top.documentId, line.data).catch((why: unknown) => {
        refused = why;
      });
    });
    const effect = await perform(run);
    if (refused !== undefined) throw refused;
    return effect;
  };
}

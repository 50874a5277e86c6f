// Widgets that ignore events, commit late, replace, move or cover themselves: the answer never claims what did not
// happen, and nothing is done twice.
import type { Page } from '@playwright/test';
import { z } from 'zod';
import { openActSite } from '../sites/acts.ts';
import { effectOf } from '../stage/acting.ts';
import type { Agent } from '../stage/agent.ts';
import { expect, type Stage, test } from '../stage/test.ts';

const widgetsShape = z.array(
  z.object({
    name: z.string(),
    kind: z.string(),
    type: z.enum(['button', 'field', 'editor', 'choice']),
    ms: z.number(),
  }),
);
const truthShape = z.record(
  z.string(),
  z.object({ acted: z.number(), inserted: z.number(), wrong: z.boolean().optional() }),
);
type Widget = z.infer<typeof widgetsShape>[number];

const windowsAtOnce = 4; // an act waits most of the time

/** A page with all widgets, in a window of its own: no other lies over it. */
interface Window {
  agent: Agent;
  page: Page;
  tabId: number;
}

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

async function openWindow({ agent, browser, closing, page: front }: Stage, url: string): Promise<Window> {
  const session = await browser.newCDPSession(front);
  const opened = browser.waitForEvent('page');
  await session.send('Target.createTarget', { url: 'about:blank', newWindow: true });
  const page = await opened;
  closing.defer(() => page.close());
  await session.detach();
  await page.goto(url);
  const tab = async () =>
    Tabs.parse((await agent.call('browser__list_tabs')).value).tabs.find((one) => one.url === url);
  await expect.poll(tab, { message: 'the relay learns of the window' }).toBeDefined();
  return { agent, page, tabId: (await tab())?.tabId ?? 0 };
}

const read = ({ page }: Window, name: string): Promise<unknown> =>
  page.evaluate((one) => Reflect.get(window, one), name);

async function refsIn({ agent, tabId }: Window): Promise<Map<string, string>> {
  const args = { full: true, maxTokens: 50_000, interactive: true, tabId };
  const seen = await agent.call('browser__snapshot', args);
  expect(seen.failed, seen.text).toBe(false);
  return new Map(
    Array.from(seen.text.matchAll(/"([BFEC]\d+)" \[(e\d+)\]/g), ([, name = '', ref = '']) => [name, ref]),
  );
}

test('two hundred hostile widgets: no false success, nothing twice', async ({
  sharedStage: stage,
  closing,
}) => {
  test.setTimeout(600_000);
  const { url } = await openActSite(closing);
  const windows: Window[] = [];
  for (let at = 0; at < windowsAtOnce; at++) windows.push(await openWindow(stage, `${url}/hostile?${at}`));
  const wrong: string[] = [];
  const tried = await Promise.all(
    windows.map(async (window, at) => {
      const widgets = widgetsShape.parse(await read(window, 'widgets'));
      expect(widgets.length).toBeGreaterThanOrEqual(200);
      const refs = await refsIn(window);
      const own = widgets.filter((_, n) => n % windowsAtOnce === at);
      for (const widget of own) {
        const act = { button: pressed, choice: chosen, field: filled, editor: filled }[widget.type];
        const complaint = await act(window, widget, refs.get(widget.name) ?? '');
        if (complaint !== undefined)
          wrong.push(`${widget.name} ${widget.type} ${widget.kind} ${widget.ms}: ${complaint}`);
      }
      const truth = truthShape.parse(await read(window, 'truth'));
      for (const one of widgets) {
        const { name, kind } = one;
        const { acted, inserted, wrong: hitAnother } = truth[name] ?? { acted: 0, inserted: 0 };
        const most = own.includes(one) ? (kind === 'twice' ? 2 : 1) : 0;
        if (acted > most || inserted > Math.min(most, 1)) wrong.push(`${name} ${kind}: ${acted} ${inserted}`);
        if (hitAnother) wrong.push(`${name} ${kind}: another one was clicked`);
      }
      return { all: widgets.length, own: own.length };
    }),
  );
  expect(wrong).toEqual([]);
  expect(tried.reduce((sum, { own }) => sum + own, 0)).toBe(tried[0]?.all);
});

const actedOf = async (window: Window, { name }: Widget): Promise<number> =>
  truthShape.parse(await read(window, 'truth'))[name]?.acted ?? 0;

// What an answer says too much, if anything.
async function pressed(window: Window, widget: Widget, ref: string): Promise<string | undefined> {
  const answer = await window.agent.call('browser__click', { ref, tabId: window.tabId });
  const acted = await actedOf(window, widget);
  if (answer.failed) {
    const { outcome } = answer.facts;
    return outcome === 'not_executed' && acted > 0 ? `refused as not done, and acted ${acted}` : undefined;
  }
  const effect = effectOf(answer);
  const claimed = effect.changes?.includes('done') ?? false;
  if (claimed && acted === 0) return `claims ${JSON.stringify(effect)}`;
  return acted > 0 && effect.noEffect ? 'says that nothing happened' : undefined;
}

async function filled(
  { agent, page, tabId }: Window,
  widget: Widget,
  ref: string,
): Promise<string | undefined> {
  const value = 'wanted';
  const answer = await agent.call('browser__fill', { fields: [{ ref, value }], tabId });
  const held = await page.evaluate((name) => String(Reflect.get(window, 'valueOf')(name)), widget.name);
  if (answer.failed)
    return held.includes(value) && answer.facts.outcome === 'not_executed'
      ? `refused, holds ${held}`
      : undefined;
  const [field] = effectOf(answer).filled ?? [];
  if (field?.verified === true && held !== value) return `verified, holds ${held}`;
  if (held.split(value).length > 2) return `holds it twice: ${held}`;
  const tooLate = widget.ms > 500; // than an act watches what follows
  return field?.verified === false && held === value && !tooLate
    ? 'not verified, though it holds it'
    : undefined;
}

async function chosen(
  { agent, page, tabId }: Window,
  { name }: Widget,
  ref: string,
): Promise<string | undefined> {
  const ask = (what: string) =>
    page.evaluate(([one, of]) => Reflect.get(window, one)(of), [what, name] as const);
  const value = z.union([z.string(), z.boolean()]).parse(await ask('wantedOf'));
  const answer = await agent.call('browser__fill', { fields: [{ ref, value }], tabId });
  const held = z.boolean().parse(await ask('isAsWanted'));
  if (answer.failed)
    return held && answer.facts.outcome === 'not_executed' ? 'refused, and is as wanted' : undefined;
  const verified = effectOf(answer).filled?.[0]?.verified;
  return verified === held ? undefined : `verified ${verified}, is as wanted ${held}`;
}

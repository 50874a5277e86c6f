// What the person says of sites holds for every tool that sees or uses pages, wherever it meets their documents. The
// cells are made of the list of tools: one without a row of what it is called with fails.
import { constants, inflateSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { z } from 'zod';
import {
  colours,
  coloursOf,
  excludePatterns,
  type Framed,
  openFramed,
  picture,
  type State,
  states,
} from '../sites/framed.ts';
import { openSite } from '../sites/own-pages.ts';
import type { Agent } from '../stage/agent.ts';
import { askedAgent, picks } from '../stage/asked-agent.ts';
import type { Closing } from '../stage/closing.ts';
import { workerOf } from '../stage/notifications.ts';
import { read } from '../stage/resources.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

test.describe.configure({ mode: 'default' });
test.use({
  groundOptions: {
    plugins: { 'browser-dev': { enabled: true } },
    config: { resources: { tabs: { excludePatterns } } },
  },
});

/** References to what a document has, or to the line of its frame alone. */
interface Refs {
  frame: string;
  button: string;
  field: string;
  file: string;
}

type Args = Record<string, unknown>;

/** How a tool is called. */
interface Row {
  whole?: Args; // to look at all of the tab
  into?: (refs: Refs) => Args; // to look at, or act in, one document
  page?: Args; // it is about the tab's own page, and tells nothing of frames
  tab?: Args; // it is about the tab
  debugger?: true; // it needs Chrome's debugger, which is in a flavour of the extension
  elsewhere?: string; // which test has what it does
}

const rows: Record<string, Row> = {
  browser__snapshot: { whole: { full: true, maxTokens: 9000 }, into: ({ frame }) => ({ ref: frame }) },
  browser__find: { whole: { text: 'Words' } },
  browser__read: { whole: { what: 'text' }, into: ({ frame }) => ({ what: 'text', ref: frame }) },
  browser__wait: {
    whole: { text: 'Words nowhere', timeoutMs: 300 },
    into: ({ button }) => ({ ref: button, timeoutMs: 2000 }),
  },
  browser__screenshot: { whole: {}, into: ({ frame }) => ({ ref: frame }) },
  browser__click: { into: ({ button }) => ({ ref: button }) },
  browser__fill: { into: ({ field }) => ({ fields: [{ ref: field, value: 'tea' }] }) },
  browser__press: { into: ({ field }) => ({ ref: field, text: 'x' }) },
  browser__pointer: { into: ({ button }) => ({ action: 'hover', ref: button }) },
  browser__upload: {
    into: ({ file }) => ({ ref: file, files: [{ name: 'a.txt', text: 'a' }] }),
  },
  browser__act: { into: ({ button }) => ({ steps: [{ tool: 'click', ref: button }] }) },
  browser__evaluate: { page: { code: '1 + 1' }, into: ({ frame }) => ({ frame, code: 'document.title' }) },
  browser__console: { page: {}, into: ({ frame }) => ({ frame }) },
  browser__storage: { page: { action: 'list' }, into: ({ frame }) => ({ frame, action: 'list' }) },
  browser__performance: { page: {}, into: ({ frame }) => ({ frame }) },
  browser__network: { page: {} },
  browser__cookies: { page: { action: 'list' } },
  browser__downloads: { page: {} },
  browser__list_tabs: { page: {} },
  browser__open_tab: { elsewhere: 'site-border.spec.ts: it is about the site that it leads to' },
  browser__pdf: { tab: {}, debugger: true },
  browser__emulate: { tab: {}, debugger: true },
  browser__navigate: { tab: { to: 'reload' } },
  browser__close_tab: { tab: {} },
};

/** Which documents there are: where they stand, and how their words begin. */
const places = ['foreign', 'nested'] as const;

/** What is to come back of a document, by where it stands and what is said of the site of the frame there. */
const open: Record<(typeof places)[number], Record<State, boolean>> = {
  foreign: { off: false, ask: false, auto: true, excluded: false },
  // of the page's own site, in a frame of another: what is around it may not be off
  nested: { off: false, ask: true, auto: true, excluded: false },
};

const refsIn = (seen: string, words: string, frame: string): Refs => {
  const ref = (role: string, name: string) =>
    new RegExp(`${role} "${name}"[^\\n[]*\\[([a-z0-9]+)\\]`).exec(seen)?.[1] ?? '';
  return {
    frame: ref('frame', frame),
    button: ref('button', `Press ${words}`),
    field: ref('textbox', `Field ${words}`),
    file: ref('file', `File ${words}`),
  };
};

const title = (place: string, state: State) => `${place === 'foreign' ? 'Foreign' : 'Nested'} ${state}`;

/** The page, with references into all of its documents that were given before anything was said of their sites. */
async function seen(stage: Stage, agent: Agent, framed: Framed) {
  await visit(stage, framed.top);
  const whole = (await agent.call('browser__snapshot', { full: true, maxTokens: 9000 })).text;
  const refs = (place: string, state: State) => refsIn(whole, `${place}-${state}`, title(place, state));
  return { whole, refs };
}

async function say(stage: Stage, { site }: Framed): Promise<void> {
  await stage.relay.tabrelay('permit', 'set', site.off, 'off');
  await stage.relay.tabrelay('permit', 'set', site.ask, 'ask');
}

test('no tool without a row', async ({ sharedStage: stage }) => {
  const tools = (await stage.agent.tools()).filter((name) => name.startsWith('browser__'));
  expect(tools.toSorted()).toEqual(Object.keys(rows).toSorted());
  for (const [name, row] of Object.entries(rows))
    expect(Object.keys(row).length, `${name} has something to be tried`).toBeGreaterThan(0);
});

test('looks leave closed frames out, and say so', async ({ sharedStage: stage, closing }) => {
  const framed = await openFramed(closing);
  await seen(stage, stage.agent, framed);
  await say(stage, framed);
  for (const [tool, { whole }] of Object.entries(rows)) {
    if (whole === undefined) continue;
    const answer = await stage.agent.call(tool, whole);
    const told = answer.texts.join('\n');
    for (const place of places)
      for (const state of states) {
        if (!open[place][state]) expect(told, tool).not.toContain(`${place}-${state}`);
        if (state !== 'auto') expect(told, tool).not.toContain(framed.inner[state]);
      }
    expect(told, tool).toContain(`${framed.site.off} not readable: off`);
    expect(told, tool).toContain(`${framed.site.ask} not readable: ask`);
    expect(told, tool).toContain(`${framed.site.excluded} not readable: off`);
    expect(told, tool).not.toContain('same-excluded');
    expect(told, tool).not.toContain(`${framed.site.auto} not readable`);
  }
  const whole = (await stage.agent.call('browser__snapshot', { full: true, maxTokens: 9000 })).text;
  for (const words of ['Words top', 'Words same-auto', 'Words foreign-auto', 'Words nested-auto'])
    expect(whole).toContain(words);
});

test('what is about the page alone tells nothing of closed frames', async ({
  sharedStage: stage,
  closing,
}) => {
  const framed = await openFramed(closing);
  await stage.agent.call('browser__network', {});
  await stage.agent.call('browser__console', {});
  await say(stage, framed);
  await visit(stage, framed.top);
  for (const [tool, { page }] of Object.entries(rows)) {
    if (page === undefined) continue;
    const answer = await stage.agent.call(tool, page);
    expect(
      answer.failed && !['BROWSER_PERMISSION_MISSING'].includes(String(answer.code)),
      `${tool} ${answer.text}`,
    ).toBe(false);
    for (const words of ['foreign-off', 'foreign-ask', 'nested-off', 'same-excluded'])
      expect(answer.texts.join('\n'), tool).not.toContain(words);
  }
  const { requests } = z
    .object({ requests: z.array(z.object({ url: z.string() })) })
    .parse((await stage.agent.call('browser__network', {})).value);
  const urls = requests.map(({ url }) => url);
  expect(urls).toContain(framed.inner.auto);
  for (const url of [
    framed.inner.off,
    framed.inner.ask,
    framed.inner.excluded,
    `${framed.origin}/nested-off`,
  ])
    expect(urls).not.toContain(url);
});

test('a call that goes into a frame is for the site of that frame', async ({
  sharedStage: stage,
  closing,
}) => {
  test.setTimeout(240_000);
  const framed = await openFramed(closing);
  const questions: string[] = [];
  const agent = await askedAgent(stage.relay, closing, (question) => {
    questions.push(question);
    return picks('Deny');
  });
  const { refs } = await seen(stage, agent, framed);
  await say(stage, framed);
  for (const [tool, { into }] of Object.entries(rows)) {
    if (into === undefined) continue;
    for (const place of places)
      for (const state of states) {
        const of = refs(place, state);
        const args = into(of);
        if (JSON.stringify(args).includes('""')) {
          expect(['excluded'], 'only what was never seen has no reference').toContain(state);
          continue;
        }
        questions.length = 0;
        const cell = `${tool} ${place} ${state}`;
        const answer = await agent.call(tool, args);
        // The line of a nested frame stands in the document around it, which a reference to it is looked up in.
        const at = args.ref === of.frame ? 'foreign' : place;
        if (open[at][state]) {
          expect(['PERMISSION_DENIED', 'APPROVAL_DENIED', 'SITE_CLOSED'], cell).not.toContain(answer.code);
          expect(answer.failed, `${cell}: ${answer.text}`).toBe(false);
          expect(questions, cell).toEqual([]);
          continue;
        }
        expect(answer.failed, `${cell}: ${answer.text}`).toBe(true);
        expect(answer.text, cell).toContain(framed.site[state]);
        expect(answer.text, cell).not.toContain(`Words ${place}`);
        if (state === 'ask') {
          expect(answer.code, cell).toBe('APPROVAL_DENIED');
          expect(questions, cell).toHaveLength(1);
          expect(questions[0], cell).toContain(framed.site.ask.replace('https://', ''));
          expect(questions[0], cell).toContain(`a frame of ${framed.origin}`);
        } else {
          expect(answer.code, cell).toBe('PERMISSION_DENIED');
          expect(questions, cell).toEqual([]);
        }
      }
  }
  for (const frame of stage.page.frames()) {
    const url = frame.url();
    if (
      [framed.inner.off, framed.inner.ask, framed.inner.excluded, `${framed.origin}/nested-off`].includes(url)
    )
      expect(await frame.evaluate('globalThis.touched'), url).toBeUndefined();
  }
});

/** The ways in which a tab comes to a page, besides by its address. */
const ways = {
  popup: async ({ browser, page }: Stage, { alone }: Framed, state: State) => {
    const opened = browser.waitForEvent('page');
    await page.evaluate((to) => void globalThis.open(to), `${alone[state]}?popup`);
    const popup = await opened;
    await popup.waitForURL(/popup/);
    return popup;
  },
  redirect: async ({ browser }: Stage, { origin }: Framed, state: State) => {
    const page = await browser.newPage();
    await page.goto(`${origin}/to-${state}`);
    return page;
  },
  history: async ({ browser }: Stage, { alone, origin }: Framed, state: State) => {
    const page = await browser.newPage();
    await page.goto(`${alone[state]}?history`);
    await page.goto(`${origin}/same`);
    await page.evaluate(() => history.back());
    await page.waitForURL(/history/, { waitUntil: 'commit' }); // out of the cache it does not load again
    return page;
  },
};

/** Tries tools in tabs that came to sites in all ways, once something was said of the sites. */
async function tryInTabs(stage: Stage, closing: Closing, tools: [name: string, row: Row][]): Promise<void> {
  const { browser, relay } = stage;
  const framed = await openFramed(closing);
  await visit(stage, framed.top);
  const questions: string[] = [];
  const agent = await askedAgent(relay, closing, (question) => {
    questions.push(question);
    return picks('Deny');
  });
  const worker = await workerOf(browser);
  const opened: { cell: string; state: State; page: Page; tabId: number; refs: Refs }[] = [];
  for (const [way, come] of Object.entries(ways))
    for (const state of states) {
      const page = await come(stage, framed, state);
      await expect.poll(() => relay.tabs()).toContain(page.url());
      const tabId = await worker.evaluate(
        async (url) => (await chrome.tabs.query({ url }))[0]?.id,
        page.url(),
      );
      const seen = await agent.call('browser__snapshot', { tabId, full: true });
      expect(seen.failed, `${way} ${state}: ${seen.text}`).toBe(state === 'excluded');
      const { button, field, file } = refsIn(seen.text, `alone-${state}`, '');
      const refs = { frame: '', button: button || 'e1', field: field || 'e1', file: file || 'e1' };
      opened.push({ cell: `${way} ${state}`, state, page, tabId: tabId ?? 0, refs });
    }
  await say(stage, framed);
  for (const [tool, { whole, page, tab, into }] of tools)
    for (const { cell, state, tabId, refs } of opened) {
      const args = whole ?? page ?? tab ?? into?.(refs);
      if (args === undefined) continue;
      questions.length = 0;
      const answer = await agent.call(tool, { ...args, tabId });
      const where = `${tool} ${cell}: ${answer.text}`;
      if (state === 'auto') {
        // It may fail for another reason: what it waits for is nowhere, the tab is behind another one.
        expect(
          ['PERMISSION_DENIED', 'APPROVAL_DENIED', 'TAB_NOT_FOUND', 'VALIDATION_ERROR'],
          where,
        ).not.toContain(answer.code);
        expect(questions, where).toEqual([]);
        continue;
      }
      expect(answer.failed, where).toBe(true);
      for (const secret of [`alone-${state}`, '/alone', '/excluded'])
        expect(answer.texts.join('\n'), where).not.toContain(secret);
      expect(answer.facts.outcome, where).toBe('not_executed');
      if (state === 'ask') {
        expect(answer.code, where).toBe('APPROVAL_DENIED');
        expect(questions, where).toEqual([expect.stringContaining(framed.site.ask)]);
      } else {
        expect(['PERMISSION_DENIED', 'TAB_NOT_FOUND'], where).toContain(answer.code);
        expect(questions, where).toEqual([]);
      }
    }
  for (const { cell, state, page } of opened)
    if (state !== 'auto') expect(await page.evaluate('globalThis.touched'), cell).toBeUndefined();
}

test('a tab that came to a site by a popup, a redirect or its history is judged as any other', async ({
  sharedStage: stage,
  closing,
}) => {
  test.setTimeout(240_000);
  const tools = await stage.agent.client.listTools();
  const without = tools.tools.filter(
    ({ name, inputSchema }) =>
      name.startsWith('browser__') && !Object.hasOwn(inputSchema.properties ?? {}, 'tabId'),
  );
  expect(without.map(({ name }) => name).toSorted()).toEqual(['browser__list_tabs', 'browser__open_tab']);
  const other = Object.entries(rows).filter(
    ([name, row]) => row.debugger === undefined && !without.some((one) => one.name === name),
  );
  await tryInTabs(stage, closing, other);
});

test('so it is for what needs the debugger, and a PDF shows closed frames black', async ({ closing }) => {
  const stage = await openStage(closing, {
    plugins: { 'browser-dev': { enabled: true } },
    config: { trustedInput: true, resources: { tabs: { excludePatterns } } },
  });
  const framed = await openFramed(closing);
  await visit(stage, framed.top);
  expect(await coloursInPdf(stage)).toEqual({ off: true, ask: true, auto: true, excluded: false });
  await say(stage, framed);
  expect(await coloursInPdf(stage)).toEqual({ off: false, ask: false, auto: true, excluded: false });
  await tryInTabs(
    stage,
    closing,
    Object.entries(rows).filter(([, row]) => row.debugger),
  );
});

test('a site that is asked about is open once the person says so', async ({
  sharedStage: stage,
  closing,
}) => {
  const framed = await openFramed(closing);
  const agent = await askedAgent(stage.relay, closing, (question) => {
    expect(question).toContain(framed.site.ask);
    return picks('Allow once');
  });
  const { refs } = await seen(stage, agent, framed);
  await say(stage, framed);
  const of = refs('foreign', 'ask');
  const looked = await agent.call('browser__snapshot', { ref: of.frame });
  expect(looked.text).toContain('Words foreign-ask');
  expect((await agent.call('browser__click', { ref: of.button })).failed).toBe(false);
  const again = (await agent.call('browser__snapshot', { full: true, maxTokens: 9000 })).text;
  expect(again, 'it was for those calls alone').not.toContain('Words foreign-ask');
  const audit = await stage.relay.tabrelay('audit', '--json');
  const asked = z
    .object({ entries: z.array(Row) })
    .parse(JSON.parse(audit))
    .entries.filter(({ tool, detail = '' }) => tool === 'browser__click' && detail.includes('a frame of'));
  expect(asked[0]).toMatchObject({ origin: framed.site.ask, detail: expect.stringContaining(framed.origin) });
});

test('pictures show closed frames black, wherever they are', async ({ sharedStage: stage, closing }) => {
  const framed = await openFramed(closing);
  await seen(stage, stage.agent, framed);
  const before = await coloursIn(stage, await picture(stage.agent, {}));
  for (const state of states) expect(before[state], state).toBe(state !== 'excluded');
  await say(stage, framed);
  for (const args of [{}, { full: true }]) {
    const shown = await coloursIn(stage, await picture(stage.agent, args));
    expect(shown).toEqual({ off: false, ask: false, auto: true, excluded: false });
  }
  // Moved about and turned, and one that is new in every frame of the picture.
  await stage.page.evaluate(() => {
    const all = Array.from(document.querySelectorAll('iframe'));
    const turn = (at: number) => {
      for (const [n, frame] of all.entries())
        frame.style.transform = `rotate(${at / 7 + n}deg) translate(${(at / 3) % 90}px, 0)`;
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
  const moving = await coloursIn(stage, await picture(stage.agent, {}));
  expect(moving).toMatchObject({ off: false, ask: false, excluded: false });
  const back = stage.page.frames().find((frame) => frame.url() === framed.inner.off);
  expect(
    await back?.evaluate(() => getComputedStyle(document.querySelector('p') ?? document.body).visibility),
    'the person sees it as before',
  ).toBe('visible');
});

test('pictures show closed frames of a frameset black', async ({ sharedStage: stage, closing }) => {
  const framed = await openFramed(closing);
  const { off, ask, auto } = framed.inner;
  const frames = [off, ask, auto].map((src) => `<frame src="${src}">`).join('');
  const page = `<!doctype html><title>Frameset</title><frameset cols="*,*,*">${frames}</frameset>`;
  await visit(stage, `${await openSite(closing, { page })}/page`);
  const seenIn = async () => coloursIn(stage, await picture(stage.agent, {}));
  expect(await seenIn()).toEqual({ off: true, ask: true, auto: true, excluded: false });
  await say(stage, framed);
  expect(await seenIn()).toEqual({ off: false, ask: false, auto: true, excluded: false });
});

test('resources leave closed frames out, and say so', async ({ sharedStage: stage, closing }) => {
  const framed = await openFramed(closing);
  await visit(stage, framed.top);
  await say(stage, framed);
  const { resources } = await stage.agent.client.listResources();
  const uri = resources.find(({ description = '' }) => description.startsWith(framed.top))?.uri ?? '';
  const told = JSON.stringify(await read(stage, uri));
  for (const words of ['foreign-off', 'foreign-ask', 'foreign-excluded', 'nested-off', 'same-excluded'])
    expect(told).not.toContain(words);
  for (const words of ['Words top', 'Words same-auto', 'Words foreign-auto', 'Words nested-auto'])
    expect(told).toContain(words);
  expect(told).toContain(`${framed.site.off} not readable: off`);
  expect(told).toContain(`${framed.site.ask} not readable: ask`);
});

const Row = z.object({
  tool: z.string().optional(),
  origin: z.string().optional(),
  detail: z.string().optional(),
});

/** Which of the frames' colours a PDF of the page fills something with. */
async function coloursInPdf({ agent }: Stage): Promise<Record<string, boolean>> {
  const result = await agent.client.callTool({ name: 'browser__pdf', arguments: {} });
  const { content } = z.object({ content: z.array(z.object({ uri: z.string().optional() })) }).parse(result);
  const uri = content.find((one) => one.uri !== undefined)?.uri ?? '';
  const { contents } = await agent.client.readResource({ uri });
  const [{ blob }] = z.tuple([z.object({ blob: z.string() })]).parse(contents);
  const pdf = Buffer.from(blob, 'base64');
  const drawn = pdf
    .toString('latin1')
    .split(/stream\r?\n/)
    .map((part) => {
      try {
        return inflateSync(Buffer.from(part, 'latin1'), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
      } catch {
        return ''; // not packed
      }
    })
    .join('\n');
  const has = (colour: string) => {
    const parts = [1, 3, 5].map((at) => (colour.slice(at, at + 2) === 'f0' ? '\\.94\\d*' : '0'));
    return new RegExp(`(?<![.\\d])${parts.join(' ')} rg`).test(drawn);
  };
  return Object.fromEntries(Object.entries(colours).map(([state, colour]) => [state, has(colour)]));
}

/** The same of a picture. */
async function coloursIn(stage: Stage, url: string): Promise<Record<string, boolean>> {
  const found = await coloursOf(stage.browser, url);
  await stage.page.bringToFront();
  return found;
}

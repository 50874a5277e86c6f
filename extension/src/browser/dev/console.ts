// What the page wrote to its console.
import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { thePage } from './page.ts';
import { redact } from './redact.ts';

const ranks = ['error', 'warning', 'info', 'log', 'debug'];

export const consoleTool = defineTool({
  name: 'console',
  displayName: 'Read the console',
  description:
    'Messages and uncaught errors of the page. Captured from the first call on, also in the pages that follow in ' +
    'the tab: call, use or reload the page, call again.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    action: s.optional(s.choice(['read', 'clear', 'stop'], 'Default read.')),
    level: s.optional(s.choice(['error', 'warning', 'info', 'log', 'debug'], 'This one and worse.')),
    contains: s.optional(s.string('Words in the text.')),
    limit: s.optional(s.integer('The newest. Default 100.', { minimum: 1, maximum: 1000 })),
    frame: s.optional(s.string('Reference of the frame, or any in it, such as f1e1.')),
  }),
  async handle({ action = 'read', level = 'debug', contains = '', limit = 100 }) {
    const page = thePage();
    if (action === 'stop') {
      await page.watch({ console: false });
      page.messages.clear();
      return { capturing: false };
    }
    const before = page.watching.console;
    await page.watch({ console: true });
    await page.sync();
    if (action === 'clear') page.messages.clear();
    const { dropped } = page.messages;
    // Redacted before anything is looked for: whether a text is found must not tell a secret letter by letter.
    const all = page.messages.all.map((said) => ({ ...said, text: redact(said.text) }));
    const worst = ranks.indexOf(level);
    const chosen = all.filter(
      (said) =>
        ranks.indexOf(said.level) <= worst && said.text.toLowerCase().includes(contains.toLowerCase()),
    );
    const messages = repeated(chosen).slice(-limit);
    return {
      url: redact(location.href),
      capturing: true,
      ...(!before &&
        all.length === 0 && { note: 'The capture begins now: use or reload the page, and call again.' }),
      messages,
      total: chosen.length,
      ...(dropped > 0 && { dropped }),
    };
  },
});

interface Message {
  level: string;
  text: string;
  time: string;
  where?: string;
  times?: number;
}

// The same message again and again is told once.
function repeated(all: readonly { level: string; text: string; at: number; where?: string }[]): Message[] {
  const messages: Message[] = [];
  for (const { level, text, at, where } of all) {
    const last = messages.at(-1);
    if (last?.level === level && last.text === text && last.where === (where ? redact(where) : undefined)) {
      last.times = (last.times ?? 1) + 1;
      continue;
    }
    const time = new Date(performance.timeOrigin + at).toISOString();
    messages.push({ level, text, time, ...(where && { where: redact(where) }) });
  }
  return messages;
}

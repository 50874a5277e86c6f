// Requests of the tab. The worker sees them (capabilities/devtools/network.ts); this document has the bodies that the
// page's own functions got, where those were asked for.
import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { thePage } from './page.ts';
import { redact } from './redact.ts';
import { told } from './told.ts';

export const network = defineTool({
  name: 'network',
  displayName: 'Look at requests',
  description:
    'Requests of the tab since the first call, without credentials: read lists them, get shows one, har exports all ' +
    'as HAR 1.2.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    action: s.optional(s.choice(['read', 'get', 'har', 'clear', 'stop'], 'Default read.')),
    id: s.optional(s.integer('For get.', { minimum: 1 })),
    bodies: s.optional(s.boolean('Also keep bodies of fetch and XMLHttpRequest from now on.')),
    contains: s.optional(s.string('Words in the address.')),
    type: s.optional(s.string('Such as xmlhttprequest, script, image, main_frame.')),
    failed: s.optional(s.boolean('Only what failed, or 400 and above.')),
    limit: s.optional(s.integer('The newest. Default 100.', { minimum: 1, maximum: 1000 })),
  }),
  async handle(args) {
    const page = thePage();
    const { bodies } = told(args);
    if (typeof bodies === 'boolean') {
      await page.watch({ bodies });
      if (!bodies) page.bodies.clear();
    }
    await page.sync();
    return {
      bodies: page.bodies.all.map(({ at, text, ...about }) => ({
        ...about,
        at: performance.timeOrigin + at,
        text: redact(text),
      })),
    };
  },
});

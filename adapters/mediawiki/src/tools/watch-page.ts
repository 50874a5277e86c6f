import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { write } from '../api.ts';
import { titleInput } from '../pages.ts';

export const watchPage = defineTool({
  name: 'watch_page',
  displayName: 'Watch or unwatch',
  description: 'Puts a page on the watch list of the person, or takes it off.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    title: titleInput,
    watched: s.boolean('false takes the page off the list.', { default: true }),
  }),
  output: s.object({
    title: s.string(),
    watched: s.boolean(),
  }),
  async handle({ title, watched }, { signal }) {
    const answer = await write({ action: 'watch', titles: title, unwatch: !watched }, signal);
    const done = answer.first('watch');
    const now = done.maybe('unwatched') ? !done.boolean('unwatched') : done.boolean('watched');
    return { title: done.string('title'), watched: now };
  },
});

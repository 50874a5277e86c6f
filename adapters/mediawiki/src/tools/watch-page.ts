import { defineTool } from '@tabrelay/plugin-sdk';
import { write } from '../api.ts';
import { titleInput } from '../pages.ts';

export const watchPage = defineTool({
  name: 'watch_page',
  displayName: 'Watch or unwatch',
  description: 'Puts a page on the watch list of the signed-in person, or takes it off.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: {
    type: 'object',
    properties: {
      title: titleInput,
      watched: { type: 'boolean', default: true, description: 'false takes the page off the list.' },
    },
    required: ['title'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { title: { type: 'string' }, watched: { type: 'boolean' } },
    required: ['title', 'watched'],
  },
  async handle({ title, watched }, { signal }) {
    const answer = await write({ action: 'watch', titles: title, unwatch: !watched }, signal);
    const done = answer.first('watch');
    const now = done.maybe('unwatched') ? !done.boolean('unwatched') : done.boolean('watched');
    return { title: done.string('title'), watched: now };
  },
});

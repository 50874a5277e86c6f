import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { call } from '../api.ts';
import { collection, written } from '../posts.ts';
import { id, postType } from '../shape.ts';

export const trashPost = defineTool({
  name: 'trash_post',
  displayName: 'Trash post',
  description:
    'Moves a post or page to the trash. update_post with a status brings it back; nothing is ' +
    'deleted for good.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    id,
    type: postType,
  }),
  output: s.object({
    id: s.integer(),
    title: s.string(),
    status: s.string(),
  }),
  async handle({ id, type }, { signal }) {
    const gone = (await call(`${collection(type)}/${id}`, { method: 'DELETE' }, signal)).at('body');
    return { id: gone.number('id'), title: written(gone, 'title'), status: gone.string('status') };
  },
});

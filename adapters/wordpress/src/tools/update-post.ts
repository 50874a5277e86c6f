import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { changedText, replaceInput } from '@tabrelay/plugin-sdk/editing';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get, post } from '../api.ts';
import { collection, fields, summary, summaryOutput, titleInput, utc, writable } from '../posts.ts';
import { id, postType } from '../shape.ts';

export const updatePost = defineTool({
  name: 'update_post',
  displayName: 'Update post',
  description:
    'Changes a post or page: its text (all, or a part by oldText and newText), title, categories ' +
    'or status (publish puts it online, draft takes it offline or out of the trash). Pass the ' +
    'modified of read_post (as source): when it has changed since, the answer is EDIT_CONFLICT ' +
    'and nothing is changed. Fields left out stay.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    id,
    type: postType,
    baseModified: s.string('The modified that read_post or list_posts answered.'),
    title: s.optional(titleInput),
    ...writable,
    ...replaceInput,
    status: s.optional(
      s.choice(['draft', 'pending', 'private', 'publish', 'future'], 'Left out, it stays.'),
    ),
  }),
  output: summaryOutput,
  async handle(
    { id, type, baseModified, content: text, oldText, newText, ...written },
    { signal },
  ) {
    const path = `${collection(type)}/${id}`;
    const partial = oldText !== undefined || newText !== undefined;
    const _fields = partial ? 'modified_gmt,content' : 'modified_gmt';
    const found = await get(path, { context: 'edit', _fields }, signal);
    const now = utc(found, 'modified_gmt');
    if (now !== baseModified) {
      throw new ToolError(
        `The ${type} ${id} has changed since ${baseModified}: its last change is of ${now}. ` +
          'Nothing was changed. Read it again and apply the change to its new text.',
        'EDIT_CONFLICT',
        { category: 'validation', outcome: 'not_executed' },
      );
    }
    const content = partial
      ? await changedText({ text, oldText, newText }, () => found.string('content', 'raw'))
      : text;
    return summary(await post(path, fields({ ...written, content }), signal));
  },
});

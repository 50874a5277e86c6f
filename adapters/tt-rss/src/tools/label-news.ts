import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { articlesMustExist } from '../articles.ts';
import { articleIds, labelId } from '../shape.ts';
import { labelWithId } from '../tree.ts';

export const labelNews = defineTool({
  name: 'label_news',
  displayName: 'Label news',
  description: 'Puts one label of the person on several articles, or takes it off them again.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    ids: articleIds,
    labelId,
    labelled: s.boolean('false takes it off.', { default: true }),
  }),
  output: s.object({ changed: s.integer('How many articles.'), label: s.string() }),
  async handle({ ids, labelId, labelled }, { signal }) {
    const label = await labelWithId(labelId, signal);
    await articlesMustExist(ids, signal);
    const change = { ids: ids.join(','), lid: labelId };
    const method = labelled ? 'Article.assigntolabel' : 'Article.removefromlabel';
    const done = (await act(method, change, { signal })).list('info-for-headlines');
    return { changed: done.length, label: label.name };
  },
});

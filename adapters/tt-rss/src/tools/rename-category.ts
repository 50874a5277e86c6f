import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from '../api.ts';
import { categoryId, name } from '../shape.ts';
import { categoryMustExist } from '../tree.ts';

export const renameCategory = defineTool({
  name: 'rename_category',
  displayName: 'Rename category',
  description: 'Gives a category of feeds another name; its feeds stay in it.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    categoryId: { ...categoryId, description: 'From list_categories.', minimum: 1 },
    name: name('Its new name.'),
  }),
  output: s.object({ id: s.integer(), name: s.string() }),
  async handle({ categoryId, name }, { signal }) {
    await categoryMustExist(categoryId, signal);
    await order('Pref_Feeds.renamecat', { id: categoryId, title: name.trim() }, signal);
    return { id: categoryId, name: name.trim() };
  },
});

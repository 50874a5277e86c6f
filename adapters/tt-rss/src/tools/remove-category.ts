import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from '../api.ts';
import { categoryId } from '../shape.ts';
import { readTree, withId } from '../tree.ts';

export const removeCategory = defineTool({
  name: 'remove_category',
  displayName: 'Remove category',
  description:
    'Removes a category. Its feeds are kept without one, and categories below it move to the top.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    categoryId: { ...categoryId, description: 'From list_categories.', minimum: 1 },
  }),
  output: s.object({ removed: s.string('Its name.'), feeds: s.integer('How many it had.') }),
  async handle({ categoryId }, { signal }) {
    const { name, feeds } = withId((await readTree(signal)).categories, categoryId, 'category');
    await order('Pref_Feeds.removeCat', { ids: categoryId }, signal);
    return { removed: name, feeds };
  },
});

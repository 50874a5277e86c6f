import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from '../api.ts';
import { invalid } from '../failures.ts';
import { name } from '../shape.ts';
import { readTree } from '../tree.ts';

export const createCategory = defineTool({
  name: 'create_category',
  displayName: 'Create category',
  description: 'Creates a category, into which subscribe and edit_feed put feeds.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({ name: name('Its name.') }),
  output: s.object({ id: s.integer(), name: s.string() }),
  async handle({ name }, { signal }) {
    const find = async () =>
      (await readTree(signal)).categories.find((one) => one.name === name.trim());
    const there = await find();
    if (there) throw invalid(`There is a category of that name: ${there.id}.`, 'CATEGORY_EXISTS');
    await order('Pref_Feeds.addCat', { cat: name.trim() }, signal);
    const made = await find();
    if (made) return { id: made.id, name: made.name };
    throw invalidResponse('no category came of it; are they switched off in the preferences?');
  },
});

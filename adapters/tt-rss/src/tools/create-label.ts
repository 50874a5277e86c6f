import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';
import { invalid } from '../failures.ts';
import { name } from '../shape.ts';
import { readLabels } from '../tree.ts';

export const createLabel = defineTool({
  name: 'create_label',
  displayName: 'Create label',
  description: 'Adds an empty label, which label_news then puts on what the person collects.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({ name: name('Its name.') }),
  output: s.object({ id: s.integer(), name: s.string() }),
  async handle({ name }, { signal }) {
    const find = async () => (await readLabels(signal)).find((one) => one.name === name.trim());
    const there = await find();
    if (there) throw invalid(`There is a label of that name: ${there.id}.`, 'LABEL_EXISTS');
    await send('Pref_Labels.add', { caption: name.trim() }, { signal });
    return (await find()) ?? fail();
  },
});

const fail = (): never => {
  throw invalidResponse('no label came of it');
};

import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { contains } from '../search.ts';

export const labelValues = defineTool({
  name: 'label_values',
  displayName: 'Values of a label',
  description:
    'The values of one label, such as all jobs or instances, of all series or of those a ' +
    'selector matches.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    label: s.string('Its name, such as job.', { pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' }),
    match: s.optional(
      s.string('A selector such as up{job="node"}. Default: all series.', { minLength: 1 }),
    ),
    search: s.string('Only values that contain this, in any case.', { default: '' }),
    ...pagingInput,
  }),
  output: s.object({
    label: s.string(),
    values: s.array(s.string()),
    ...pagingOutput,
  }),
  arrayPath: '.values',
  async handle({ label, match, search, ...part }, { signal, maxBytes }) {
    const { data } = await get(
      `label/${encodeURIComponent(label)}/values`,
      { 'match[]': match },
      signal,
    );
    const all = data.strings();
    if (all.length === 0) {
      const of = match === undefined ? '' : ` that ${match} matches`;
      throw ToolError.notFound(
        `No series${of} has the label "${label}". list_labels names the labels there are.`,
      );
    }
    const found = all.filter((value) => contains(value, search));
    return listPage(found, { ...part, maxBytes }, (values, paging) => ({
      label,
      values,
      ...paging,
    }));
  },
});

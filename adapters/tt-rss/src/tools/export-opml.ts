import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { exportOpml } from '../feeds.ts';

export const exportOpmlTool = defineTool({
  name: 'export_opml',
  displayName: 'Export OPML',
  description:
    'All subscriptions with their categories and addresses as OPML, in parts. Addresses of ' +
    'private feeds may have secrets in them.',
  annotations: { readOnlyHint: true },
  input: s.parameters(textInput),
  output: s.object(textOutput),
  async handle(part, { signal, maxBytes }) {
    return textPage(await exportOpml(signal), { ...part, maxBytes }, (shown) => shown);
  },
});

import { definePlugin, defineTool, getPageTitle } from '@tabrelay/plugin-sdk';

const readTitle = defineTool({
  name: 'read_title',
  displayName: 'Read title',
  description: 'The title of the page in the frame.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  frames: 'all',
  handle: () => ({ title: getPageTitle() }),
});

export default definePlugin({ tools: [readTitle] });

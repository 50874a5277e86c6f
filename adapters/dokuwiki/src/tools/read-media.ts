import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { detailsOf, fileInput, fileNameOf, mustBeFile, urlOf } from '../media.ts';

export const readMedia = defineTool({
  name: 'read_media',
  displayName: 'Details of a file',
  description:
    'What the wiki knows about a file: type, size, where it is, which pages use it, and what its maker wrote ' +
    'into a picture. The file itself is at url.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ id: fileInput }),
  output: s.object({
    id: s.string(),
    url: s.string(),
    type: s.string('Its media type.'),
    bytes: s.optional(s.integer()),
    modified: s.optional(s.string()),
    usedIn: s.array(s.string(), { maxItems: 500 }),
    properties: s.array(s.object({ name: s.string(), value: s.string() }), { maxItems: 100 }),
  }),
  async handle({ id: name }, { signal }) {
    const id = fileNameOf(name);
    const headers = await mustBeFile(id, signal);
    const details = await detailsOf(id, signal);
    const bytes = Number(headers.get('content-length'));
    const modified = Date.parse(headers.get('last-modified') ?? '');
    const properties = Object.entries(details.properties).map(([name, value]) => ({ name, value }));
    return {
      id,
      url: urlOf(id),
      type: headers.get('content-type') ?? '',
      ...(bytes > 0 ? { bytes } : {}),
      ...(Number.isNaN(modified) ? {} : { modified: new Date(modified).toISOString() }),
      usedIn: details.usedIn.slice(0, 500),
      properties: properties.slice(0, 100),
    };
  },
});

import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { fileOf, fileProperties } from '../files.ts';
import { limitInput } from '../pages.ts';

export const listFiles = defineTool({
  name: 'list_files',
  displayName: 'List files',
  description:
    'Pictures and other files of the wiki with address, type and size: the latest uploads, or those whose name begins with some letters.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      prefix: {
        type: 'string',
        minLength: 1,
        description: 'How the name begins, without "File:"; then sorted by name.',
      },
      limit: limitInput,
      after: { type: 'string', description: 'From next of the answer before.' },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      files: {
        type: 'array',
        items: {
          type: 'object',
          properties: fileProperties,
          required: ['title', 'url', 'mime', 'bytes', 'width', 'height', 'user', 'timestamp'],
        },
      },
      next: { type: 'string', description: 'Present when there are more.' },
    },
    required: ['files'],
  },
  async handle({ prefix, limit, after }, { signal }) {
    const order =
      prefix === undefined ? { aisort: 'timestamp', aidir: 'older' } : { aisort: 'name', aiprefix: prefix };
    const answer = await get(
      {
        action: 'query',
        list: 'allimages',
        ...order,
        aiprop: ['url', 'size', 'mime', 'user', 'timestamp'],
        ailimit: limit,
        aicontinue: after,
      },
      signal,
    );
    const next = asText(objectAt(answer, 'continue').aicontinue);
    return { files: objectsIn(objectAt(answer, 'query').allimages).map(fileOf), ...(next ? { next } : {}) };
  },
});

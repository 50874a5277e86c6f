import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { write } from '../api.ts';
import { bytesOf, fileOf, fileProperties } from '../files.ts';

export const uploadFile = defineTool({
  name: 'upload_file',
  displayName: 'Upload file',
  description:
    'Uploads a new file, for use in pages as [[File:name]]. Never replaces one: FILE_EXISTS.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    name: s.string('With its extension: "Red fox.png".', { minLength: 3, maxLength: 200 }),
    contentBase64: s.string('The bytes of the file in base64.', {
      minLength: 4,
      maxLength: 8_000_000,
    }),
    description: s.string('Wikitext of its page: source, author, licence.', { default: '' }),
    summary: s.string('Shown in the upload log.', { maxLength: 500, default: '' }),
  }),
  output: s.object(fileProperties),
  async handle({ name, contentBase64, description, summary }, { signal }) {
    const file = new File([bytesOf(contentBase64)], name);
    const params = { action: 'upload', filename: name, text: description, comment: summary };
    const upload = (await write(params, signal, file)).at('upload');
    if (upload.string('result') !== 'Success') {
      throw notUploaded(name, Object.keys(upload.maybe('warnings')?.object() ?? {}));
    }
    return fileOf(upload.at('imageinfo'), `File:${upload.string('filename').replaceAll('_', ' ')}`);
  },
});

/** The wiki warns and keeps nothing: the name is taken, the same bytes are there already, or it was deleted before. */
function notUploaded(name: string, warnings: readonly string[]): ToolError {
  const taken = warnings.some((one) => one.startsWith('exists') || one === 'no-change');
  const message = taken
    ? `There is a file "${name}" already. Choose another name, or use the one that is there.`
    : `The wiki did not take "${name}": ${warnings.join(', ') || 'it gave no reason'}.`;
  return new ToolError(message, taken ? 'FILE_EXISTS' : 'UPLOAD_REFUSED', {
    category: 'validation',
    outcome: 'not_executed',
  });
}

import { defineTool, withFreshToken } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { errors, manage, mustBeSignedIn, tokenOf } from '../api.ts';
import * as failures from '../failures.ts';
import { detailsOf, fileInput, fileNameOf, headersOf, mustBeFile } from '../media.ts';

export const deleteMedia = defineTool({
  name: 'delete_media',
  displayName: 'Delete file',
  description:
    'Deletes a file in the name of the signed-in person. One that pages still use is not deleted: ' +
    'MEDIA_IN_USE names them.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({ id: fileInput }),
  output: s.object({ id: s.string(), deleted: s.boolean() }),
  async handle({ id: name }, { signal }) {
    const id = fileNameOf(name);
    await mustBeFile(id, signal);
    await mustBeUnused(id, signal);
    const fresh = {
      get: async () => {
        const page = await manage('GET', { ns: id.replace(/:?[^:]*$/, '') }, signal);
        await mustBeSignedIn(page, signal);
        return tokenOf(page);
      },
      isRefused: failures.isTokenRefused,
    };
    return withFreshToken(fresh, async (sectok) => {
      const said = errors(await manage('POST', { delete: id, sectok }, signal));
      if (said.includes('Security Token did not match')) throw failures.tokenRefused();
      if ((await headersOf(id, signal)) === undefined) return { id, deleted: true };
      await mustBeUnused(id, signal);
      throw failures.denied(true);
    });
  },
});

async function mustBeUnused(id: string, signal: AbortSignal): Promise<void> {
  const { usedIn } = await detailsOf(id, signal);
  if (usedIn.length > 0) throw failures.fileInUse(id, usedIn.slice(0, 20));
}

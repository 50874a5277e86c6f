// Putting files into the wiki, with the form that its media manager shows.

import { type ToolError, withFreshToken } from '@tabrelay/plugin-sdk';
import { parseHTML, plainText } from '@tabrelay/plugin-sdk/html';
import { jsonReader } from '@tabrelay/plugin-sdk/json';
import { ajax, isSignedIn, mustBeSignedIn, partOf, textOf, tokenOf, upload } from './api.ts';
import * as failures from './failures.ts';
import { headersOf } from './media.ts';

/** Uploads a file that is not there yet; answers its name, as the wiki writes it. */
export async function addFile(
  id: string,
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const colon = id.lastIndexOf(':');
  const [namespace, name] = [id.slice(0, Math.max(colon, 0)), id.slice(colon + 1)];
  const fresh = {
    get: () => openForm(namespace, name, bytes.length, signal),
    isRefused: failures.isTokenRefused,
  };
  return withFreshToken(fresh, async (sectok) => {
    const form = new FormData();
    for (const [field, value] of Object.entries({
      call: 'mediaupload',
      sectok,
      ns: namespace,
      mediaid: name,
    }))
      form.set(field, value);
    form.set('qqfile', new File([bytes], name));
    const answer = jsonReader(await upload(form, signal), 'unknown');
    const said = answer.maybe('error')?.string();
    if (said === undefined) return answer.string('id').replace(/^:/, '');
    throw await notUploaded(id, plainText(said), signal);
  });
}

/** The token of the form in which a person chooses a file; fails where that form already says that it will not do. */
async function openForm(
  namespace: string,
  name: string,
  size: number,
  signal: AbortSignal,
): Promise<string> {
  const page = parseHTML(await ajax('medialist', { ns: namespace }, signal));
  partOf(page, '#media__ns');
  const form = page.querySelector('#dw__upload');
  if (form === null) throw failures.denied(isSignedIn(page));
  await mustBeSignedIn(page, signal);
  const types = textOf(page.querySelector('.maxsize span')).split(/,\s*/).filter(Boolean);
  const type = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (types.length > 0 && !types.includes(type))
    throw failures.uploadRefused(
      `The wiki takes no files ending in ".${type}", only ${types.join(', ')}.`,
    );
  const limit = limitIn(page.querySelector('.maxsize')?.firstChild?.textContent ?? '');
  if (limit !== undefined && size > limit.bytes) throw failures.tooLarge(limit.said);
  return tokenOf(page);
}

/** "2 MB" in a sentence of any language. */
function limitIn(sentence: string): { bytes: number; said: string } | undefined {
  const [said, number = '', unit = ''] = /([\d.,]+)\s*([KMG]?)i?B\b/.exec(sentence) ?? [];
  const value = Number(number.replace(',', '.'));
  if (said === undefined || Number.isNaN(value)) return undefined;
  return { said, bytes: value * 1024 ** ' KMG'.indexOf(unit === '' ? ' ' : unit) };
}

/** Its reason is in the person's language: whether the file is there is asked. */
async function notUploaded(id: string, said: string, signal: AbortSignal): Promise<ToolError> {
  if (said.includes('Security Token did not match')) return failures.tokenRefused();
  if ((await headersOf(id, signal)) !== undefined) return failures.fileExists(id);
  // Of a file that PHP did not take the wiki says nothing.
  return said === '' ? failures.tooLarge() : failures.uploadRefused(said);
}

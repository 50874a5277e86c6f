// Who this browser profile is: a random id and a label, made once and kept in storage.local.
import { isText, shape } from '../page/guards.ts';
import { randomHex } from './records.ts';

export interface Profile {
  id: string;
  label: string;
}

const isProfile = shape({ id: isText, label: isText });

export async function freshProfile(): Promise<Profile> {
  const id = randomHex(16);
  const profile = { id, label: `Chrome ${id.slice(0, 4)}` };
  await chrome.storage.local.set({ profile });
  return profile;
}

export async function readProfile(): Promise<Profile> {
  const { profile } = await chrome.storage.local.get('profile');
  return isProfile(profile) ? { id: profile.id, label: profile.label } : freshProfile();
}

/** The browser's version, as far as it tells. */
export const chromeVersion = (): string => /Chrome\/([\d.]+)/.exec(navigator.userAgent)?.[1] ?? '';

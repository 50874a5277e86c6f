// Who this browser profile is: a random id and a label, made once and kept in storage.local.

import { isText, shape } from '../../shared/guards.ts';
import { randomHex } from '../util/random.ts';
import { plain } from '../util/text.ts';

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

async function readProfile(): Promise<Profile> {
  const { profile } = await chrome.storage.local.get('profile');
  return isProfile(profile) ? { id: profile.id, label: profile.label } : freshProfile();
}

const maxLabel = 40;

/** Gives the profile the name that the person chose; undefined when nothing is left of it. */
async function renameProfile(wanted: string): Promise<Profile | undefined> {
  const label = plain(wanted.normalize('NFC'), maxLabel);
  if (label === '') return undefined;
  const profile = { ...(await readProfile()), label };
  await chrome.storage.local.set({ profile });
  return profile;
}

/** The browser's version, as far as it tells. */
export const chromeVersion = (): string => /Chrome\/([\d.]+)/.exec(navigator.userAgent)?.[1] ?? '';

/** The profile as it was read last; empty until then. */
export class OwnProfile {
  readonly #changed: () => void;
  current: Profile = { id: '', label: '' };

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async read(): Promise<Profile> {
    return this.#become(await readProfile());
  }

  /** Takes the name that the person chose; undefined when nothing is left of it. */
  async rename(wanted: string): Promise<Profile | undefined> {
    const renamed = await renameProfile(wanted);
    return renamed && this.#become(renamed);
  }

  #become(profile: Profile): Profile {
    this.current = profile;
    this.#changed();
    return profile;
  }
}

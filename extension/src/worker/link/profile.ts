// Who this browser profile is: a random id and a label, made once and kept in storage.local.

import { isText, shape } from '../../shared/guards.ts';
import { randomHex } from '../util/random.ts';
import { plain } from '../util/text.ts';

export interface Profile {
  id: string;
  label: string;
}

const isProfile = shape({ id: isText, label: isText });

const maxLabel = 40;

const firstTab = /^data:,tabrelay-profile=([a-z0-9-]{1,32})$/;

/**
 * The name of a browser that `tabrelay up --profile NAME` starts: the address of its first tab has it. No page can name
 * a profile so, because it counts only where no tab shows a page, and only once, for a new profile.
 */
async function givenName(): Promise<string> {
  const addresses = (await chrome.tabs.query({})).map((tab) => tab.pendingUrl || tab.url || '');
  if (addresses.some((address) => !/^(about|chrome|data):/.test(address))) return '';
  return addresses.map((address) => firstTab.exec(address)?.[1] ?? '').find(Boolean) ?? '';
}

export async function freshProfile(): Promise<Profile> {
  const id = randomHex(16);
  const profile = { id, label: (await givenName()) || `Chrome ${id.slice(0, 4)}` };
  await chrome.storage.local.set({ profile });
  return profile;
}

async function readProfile(): Promise<Profile> {
  const { profile } = await chrome.storage.local.get('profile');
  return isProfile(profile) ? { id: profile.id, label: profile.label } : freshProfile();
}

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

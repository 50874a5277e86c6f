// Where the relay is, and the secret that proves it. pairing.json lies in the unpacked extension folder, written by the
// relay; it is read at every dial, because the port and the secret may change while this worker lives. An extension that
// came without the file keeps what it was given for a one-time string (pair.ts), where no content script can read it.
import { isText, shape } from '../page/guards.ts';

export interface Pairing {
  address: string; // host:port
  secret: string; // 64 hexadecimal digits
  pasted?: boolean; // it came for a one-time string, not from the extension's folder
}

const isPairing = shape({ address: isText, secret: isText });
const loopback = /^(127\.0\.0\.1|\[::1\]|localhost):\d{1,5}$/;

/** Reads the text of pairing.json; undefined when it is not one, or names anything but this machine. */
export function parsePairing(text: string): Pairing | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPairing(value) || !loopback.test(value.address) || !/^[0-9a-f]{64}$/.test(value.secret))
    return undefined;
  return { address: value.address, secret: value.secret };
}

async function readFile(): Promise<Pairing | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
    return parsePairing(await response.text());
  } catch {
    return undefined; // the file is not there (yet)
  }
}

export async function readPairing(): Promise<Pairing | undefined> {
  const file = await readFile();
  if (file !== undefined) return file;
  const { pairing } = await chrome.storage.local.get('pairing');
  const kept = parsePairing(JSON.stringify(pairing) ?? '');
  return kept && { ...kept, pasted: true };
}

/** Keeps a pairing for an extension without pairing.json; false when it has the file, which counts. */
export async function keepPairing(pairing: Pairing): Promise<boolean> {
  await chrome.storage.local.set({ pairing });
  return (await readFile()) === undefined;
}

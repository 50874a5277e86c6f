// pairing.json lies in the unpacked extension folder, written by the relay; read at every dial, because the port
// and the secret may change while this worker lives.
import { isText, shape } from '../page/guards.ts';

export interface Pairing {
  address: string; // host:port
  secret: string; // 64 hexadecimal digits
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

export async function readPairing(): Promise<Pairing | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
    return parsePairing(await response.text());
  } catch {
    return undefined; // the file is not there (yet)
  }
}

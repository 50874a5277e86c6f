// Mutual proof of the pairing secret. The relay proves first; nothing about tabs is said before it has. The secret
// itself never crosses the wire.

/** Where the relay is, and the secret that proves it. */
export interface Pairing {
  address: string; // host:port
  secret: string; // 64 hexadecimal digits
  pasted?: boolean; // it came for a one-time string, not from the extension's folder
}

export interface ProofParts {
  protocol: number;
  address: string; // host:port as dialled
  extensionId: string;
  profileId: string;
  extensionNonce: string;
  relayNonce: string;
  hello: string; // the two hello frames exactly as sent
  relay: string;
}

const utf8 = new TextEncoder();

export const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (value) => value.toString(16).padStart(2, '0')).join('');

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** What is proven, and by whom; see PROTOCOL.md. */
export type Role = 'relay' | 'extension' | 'pairing relay' | 'pairing extension' | 'pairing secret';

async function transcript(role: Role, parts: ProofParts): Promise<Uint8Array<ArrayBuffer>> {
  const hellos = await crypto.subtle.digest('SHA-256', utf8.encode(`${parts.hello}\n${parts.relay}`));
  return utf8.encode(
    [
      'tabrelay.v1',
      role,
      String(parts.protocol),
      parts.address,
      parts.extensionId,
      parts.profileId,
      parts.extensionNonce,
      parts.relayNonce,
      toHex(hellos),
    ].join('\n'),
  );
}

const importKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', fromHex(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

/** The proof this extension sends. The secret is hexadecimal; in a pairing role it is a one-time string. */
export async function prove(secret: string, parts: ProofParts, role: Role = 'extension'): Promise<string> {
  return toHex(await crypto.subtle.sign('HMAC', await importKey(secret), await transcript(role, parts)));
}

/** Whether the relay's proof shows that it knows the secret. */
export async function verify(
  secret: string,
  parts: ProofParts,
  proof: string,
  role: Role = 'relay',
): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(proof)) return false;
  return crypto.subtle.verify('HMAC', await importKey(secret), fromHex(proof), await transcript(role, parts));
}

/** Opens the pairing secret that was sealed for the one-time string. */
export async function unseal(code: string, parts: ProofParts, sealed: string): Promise<string> {
  const pad = fromHex(await prove(code, parts, 'pairing secret'));
  const secret = fromHex(sealed);
  return toHex(secret.map((value, i) => value ^ (pad[i] ?? 0)).buffer);
}

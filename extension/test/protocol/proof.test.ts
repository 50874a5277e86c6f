// The worked example of PROTOCOL.md. The relay's tests read the same file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ProofParts, prove, unseal, verify } from '../../src/worker/link/handshake.ts';

interface Vector extends ProofParts {
  secret: string;
  relayProof: string;
  extensionProof: string;
}

function isVector(value: unknown): value is Vector {
  return typeof value === 'object' && value !== null && 'extensionProof' in value;
}

const vector: unknown = JSON.parse(
  readFileSync(new URL('../../../relay/browser/wire/testdata/proof.json', import.meta.url), 'utf8'),
);

test('the proof of the worked example', async () => {
  assert.ok(isVector(vector));
  assert.equal(await prove(vector.secret, vector), vector.extensionProof);
  assert.ok(await verify(vector.secret, vector, vector.relayProof));
});

test('a proof sent back, or made for another address, profile or connection, does not verify', async () => {
  assert.ok(isVector(vector));
  const { secret, relayProof, extensionProof } = vector;
  assert.ok(!(await verify(secret, vector, extensionProof)));
  for (const change of [
    { address: '127.0.0.1:7718' },
    { profileId: '0'.repeat(32) },
    { relay: `${vector.relay} ` },
  ]) {
    assert.ok(!(await verify(secret, { ...vector, ...change }, relayProof)));
  }
});

interface PairingVector extends Vector {
  code: string;
  sealed: string;
}

const isPairingVector = (value: unknown): value is PairingVector => isVector(value) && 'sealed' in value;

const pairing: unknown = JSON.parse(
  readFileSync(new URL('../../../relay/browser/wire/testdata/pairing.json', import.meta.url), 'utf8'),
);

test('the proofs for a one-time string, and the secret it seals, of the worked example', async () => {
  assert.ok(isPairingVector(pairing));
  const { code } = pairing;
  assert.equal(await prove(code, pairing, 'pairing extension'), pairing.extensionProof);
  assert.ok(await verify(code, pairing, pairing.relayProof, 'pairing relay'));
  assert.ok(!(await verify(code, pairing, pairing.relayProof)), 'in the role of a connection');
  assert.equal(await unseal(code, pairing, pairing.sealed), pairing.secret);
});

// The golden frames of relay/browser/wire, read with the generated validators. The relay's tests read the same files.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fromExtension } from '../../src/protocol/from-extension.generated.js';
import { fromRelay } from '../../src/protocol/from-relay.generated.js';
import { generate } from '../../src/protocol/generate.ts';

const folder = fileURLToPath(new URL('../../../relay/browser/wire/testdata/frames/', import.meta.url));
const validators: Record<string, (value: unknown) => boolean> = { ...fromExtension, ...fromRelay };

function read(kind: 'good' | 'bad'): { name: string; text: string }[] {
  return readdirSync(folder + kind).map((name) => ({
    name,
    text: readFileSync(`${folder}${kind}/${name}`, 'utf8').replace(/\n$/, ''),
  }));
}

function parse(text: string): { header: unknown; payload: string | undefined } {
  const end = text.indexOf('\n');
  const header: unknown = JSON.parse(end < 0 ? text : text.slice(0, end));
  return { header, payload: end < 0 ? undefined : text.slice(end + 1) };
}

function typeOf(header: unknown): string {
  return typeof header === 'object' && header !== null && 'type' in header && typeof header.type === 'string'
    ? header.type
    : '';
}

for (const { name, text } of read('good')) {
  test(`accepts ${name}`, () => {
    const { header, payload } = parse(text);
    const validate = validators[typeOf(header)];
    assert.ok(validate?.(header), `${typeOf(header)} is refused`);
    if (payload !== undefined) JSON.parse(payload);
    assert.equal(JSON.stringify(header), text.split('\n')[0], 'a header is written without spaces');
  });
}

for (const { name, text } of read('bad')) {
  test(`refuses ${name}`, () => {
    let header: unknown;
    try {
      header = parse(text).header;
    } catch {
      return;
    }
    const validate = validators[typeOf(header)];
    assert.ok(!validate?.(header));
  });
}

test('every frame has a golden file', () => {
  const seen = new Set(read('good').map(({ text }) => typeOf(parse(text).header)));
  assert.deepEqual([...seen].sort(), Object.keys(validators).sort());
});

test('the generated files are fresh', { timeout: 30_000 }, async () => {
  for (const [name, text] of Object.entries(await generate())) {
    const committed = readFileSync(
      fileURLToPath(new URL(`../../src/protocol/${name}`, import.meta.url)),
      'utf8',
    );
    assert.equal(committed, text, `${name} is stale: run \`npm run generate\``);
  }
});

// Answers that are too large for an agent: what it gets fits, is true to the schema, and the rest can be read.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { stdioAgent } from '../stage/agent.ts';
import { testPlugin } from '../stage/plugin.ts';
import { expect, openStage, test } from '../stage/test.ts';

const Envelope = z.object({
  result: z.unknown(),
  truncated: z.boolean(),
  kept: z.number(),
  total: z.number(),
  nextOffset: z.number().optional(),
  arrayPath: z.string().optional(),
  id: z.string().optional(),
  uri: z.string().default(''),
});

const Result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().default(''), uri: z.string().optional() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

test('large answers are shortened, keep to their schema, and can be read to the end', async ({ closing }) => {
  const stage = await openStage(closing, {
    async beforeBrowser(relay) {
      const demo = JSON.parse(await readFile(path.join(relay.home, 'config.json'), 'utf8')).demo.listen;
      await relay.tabrelay('plugin', 'add', await testPlugin('ledger', `http://${demo}`, closing));
    },
  });
  const { client } = await stdioAgent(stage.relay, closing);
  await client.listTools(); // from here on the client checks structured content against the output schemas
  const call = async (name: string, args: Record<string, unknown>) => {
    const answer = Result.parse(await client.callTool({ name, arguments: args }));
    return { ...answer, text: answer.content[0]?.text ?? '' };
  };
  const envelope = (text: string) => Envelope.parse(JSON.parse(text));

  const small = await call('ledger__typed', { rows: 3 });
  expect(small.structuredContent).toMatchObject({ title: 'Ledger', rows: { length: 3 } });
  expect(small.content).toHaveLength(1);

  for (const name of ['typed', 'bare']) {
    const large = await call(`ledger__${name}`, { rows: 5000 });
    expect(large.isError).toBe(false);
    const read = envelope(large.text);
    expect(read).toMatchObject({ truncated: true, total: 5000, nextOffset: read.kept });
    const { result, ...note } = read;
    const warning = `The result is truncated: ${read.kept} of 5000 items are here.`;
    expect(large.structuredContent).toEqual({
      _tabrelay: expect.objectContaining({ ...note, warnings: [warning] }),
      ...(name === 'typed' ? z.record(z.string(), z.unknown()).parse(result) : { result }),
    });
    expect(Buffer.byteLength(JSON.stringify(large.structuredContent))).toBeLessThanOrEqual(32_768);
    expect(Buffer.byteLength(large.content.map((item) => item.text).join(''))).toBeLessThanOrEqual(32_768);
    expect(large.content[1]).toMatchObject({ type: 'resource_link', uri: read.uri });
    expect(large.content[2]?.text).toBe(`Warning: ${warning}`);

    let seen = read.kept;
    for (let offset = read.nextOffset; offset !== undefined; ) {
      const arrayPath = name === 'typed' ? { arrayPath: '.rows' } : {};
      const piece = envelope((await call('relay__read_result', { id: read.id, offset, ...arrayPath })).text);
      expect(piece.result).toHaveProperty('0.id', seen);
      seen += piece.kept;
      offset = piece.nextOffset;
    }
    expect(seen).toBe(5000);
    const { contents } = await client.readResource({ uri: read.uri });
    expect(JSON.stringify(contents)).toContain('Row 4999 of the ledger');
  }

  const refused = await call('ledger__whole', { rows: 5000 });
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain('code=OUTPUT_TOO_LARGE');
  const id = /relay__read_result \{"id":"([0-9a-f]{32})"\}/.exec(refused.text)?.[1];
  const counted = await call('relay__read_result', { id, jq: 'length' });
  expect(envelope(counted.text).result).toBe(5000);
  expect((await call('ledger__whole', { rows: 200_000 })).text).toContain('Next: Ask for fewer rows.');

  const declared = envelope((await call('ledger__untyped', { rows: 2000 })).text);
  expect(declared).toMatchObject({ arrayPath: '.mine', total: 2000 });
  const asked = await call('ledger__untyped', { rows: 2000, maxBytes: 60_000, arrayPath: '.mine' });
  expect(Buffer.byteLength(asked.text)).toBeLessThanOrEqual(60_000);
});

// Files, programs and what the relay keeps, as an agent reads them.

import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openClient2 } from '../stage/modern.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { read, refused } from '../stage/resources.ts';
import { expect, openStage, test } from '../stage/test.ts';

test('files, programs and what the relay keeps', async ({ closing }) => {
  const folder = await temporaryFolder('files', closing);
  await mkdir(path.join(folder, 'docs'));
  await writeFile(path.join(folder, 'docs/note.md'), '# A note\n');
  await writeFile(path.join(folder, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]));
  await symlink('/etc/passwd', path.join(folder, 'link'));
  const program = path.join(folder, 'provider');
  await writeFile(
    program,
    '#!/bin/sh\necho "secret complaint" >&2\n[ "$1" = "note://here/a" ] || exit 3\nprintf "a note by a program"\n',
  );
  await chmod(program, 0o700);
  const stage = await openStage(closing, {
    config: { resources: { file: { roots: [folder] }, providers: { note: { command: [program] } } } },
  });
  const { resourceTemplates } = await stage.agent.client.listResourceTemplates();
  expect(resourceTemplates.map((one) => one.uriTemplate)).toEqual([
    'tab://{id}/text',
    'tab://{id}/html',
    'console://{id}',
    'result://{id}',
    'deadletter://{id}',
    'file:///{+path}',
    'note://{+rest}',
  ]);

  const root = `file://${folder}/`;
  const { resources } = await stage.agent.client.listResources();
  expect(resources.map((one) => one.uri)).toEqual(expect.arrayContaining([root, 'events://recent']));
  expect((await read(stage, root))[0]?.text).toBe('docs/\npicture.png (8 bytes)\nprovider (104 bytes)\n');
  expect((await read(stage, `${root}docs/note.md`))[0]).toMatchObject({
    text: '# A note\n',
    mimeType: 'text/markdown',
  });
  expect((await read(stage, `${root}picture.png`))[0]).toMatchObject({
    blob: 'iVBORwABAv8=',
    mimeType: 'image/png',
  });
  for (const uri of [
    'file:///etc/passwd',
    `${root}link`,
    `${root}../../etc/passwd`,
    'file:///no/such/file',
  ]) {
    expect(await refused(stage, uri)).toMatchObject({ code: -32603, data: { type: 'permission_denied' } });
  }
  expect(await refused(stage, `${root}none`)).toMatchObject({ code: -32002, data: { uri: `${root}none` } });

  expect((await read(stage, 'note://here/a'))[0]?.text).toBe('a note by a program');
  const none = await refused(stage, 'note://here/b');
  expect(none.code).toBe(-32002);
  expect(JSON.stringify(none)).not.toContain('secret complaint');
  expect(await refused(stage, 'https://example.org/')).toMatchObject({
    code: -32603,
    data: { type: 'permission_denied' },
  });
  expect(await refused(stage, 'nonsense://x')).toMatchObject({ code: -32002 });

  const [events] = await read(stage, 'events://recent');
  const { events: told }: { events: { kind: string }[] } = JSON.parse(events?.text ?? '{}');
  // Its own: that a browser connected is the person's to know.
  expect(told.map((one) => one.kind)).toContain('session');
  expect(told.map((one) => one.kind)).not.toContain('connected');
});

test('a result that was cut is read whole, and a call that failed for good can be looked at', async ({
  stage,
}) => {
  const answer = await stage.agent.call('trouble__big_output', { bytes: 300_000 });
  const link = /result:\/\/[0-9a-f]{32}/.exec(answer.texts.join())?.[0] ?? answer.texts.join().slice(-500);
  const [whole] = await read(stage, link);
  expect(whole?.mimeType).toBe('application/json');
  expect(JSON.parse(whole?.text ?? '{}').text).toHaveLength(300_000);

  const lost = await stage.agent.call(
    'trouble__slow_increment',
    { name: 'x', ms: 20_000, note: 'x' },
    { timeoutMs: 1200 },
  );
  expect(lost.code).toBe('TIMEOUT');
  let uri = '';
  await expect
    .poll(async () => {
      const { resources } = await stage.agent.client.listResources();
      uri = resources.find((one) => one.uri.startsWith('deadletter:'))?.uri ?? '';
      return uri;
    })
    .not.toBe('');
  const [letter] = await read(stage, uri);
  expect(JSON.parse(letter?.text ?? '{}')).toMatchObject({
    tool: 'trouble__slow_increment',
    outcome: 'unknown',
  });
  expect(await refused(stage, `deadletter://${'0'.repeat(32)}`)).toMatchObject({ code: -32002 });
});

test('in the modern era the same is read, and missing is told as that era has it', async ({ stage }) => {
  const client = await openClient2(stage.relay, 'HTTP', 'modern', stage.closing);
  const demo = async () =>
    (await client.listResources()).resources.find((one) => one.title === 'tabrelay demo')?.uri ?? '';
  await expect.poll(demo, { message: 'the title comes after the address' }).not.toBe('');
  const { contents } = await client.readResource({ uri: await demo() });
  expect(JSON.stringify(contents)).toContain('tabrelay demo');
  await expect(client.readResource({ uri: 'tab://1/text' })).rejects.toMatchObject({ code: -32602 });
  await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32603 });
});

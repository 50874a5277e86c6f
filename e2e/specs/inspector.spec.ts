// The Inspector, the official tool for looking at servers, on its command line: what it can do there, in both eras and
// over both transports.

import { z } from 'zod';
import { Answer } from '../stage/answer.ts';
import { inspect } from '../stage/outside.ts';
import { binary } from '../stage/paths.ts';
import { expect, type Stage, test } from '../stage/test.ts';

const places: Record<string, (stage: Stage) => Promise<string[]>> = {
  stdio: async ({ relay }) => [binary, 'mcp', '-e', `TABRELAY_HOME=${relay.home}`],
  HTTP: async ({ relay }) => [
    await relay.url('/mcp'),
    '--header',
    `Authorization: Bearer ${await relay.token()}`,
  ],
};

const Tools = z.object({ tools: z.array(z.object({ name: z.string() })) });

for (const [transport, place] of Object.entries(places)) {
  for (const era of ['legacy', 'modern']) {
    test(`the Inspector over ${transport}, ${era}: lists, calls, reads a failure, finds no fault in schemas`, async ({
      sharedStage: stage,
    }) => {
      const env = { HOME: stage.relay.home }; // it keeps a catalogue there
      const ask = async (...what: string[]) =>
        inspect([...(await place(stage)), '--protocol-era', era, ...what], env);

      const listed = await ask('--method', 'tools/list', '--strict');
      expect(listed.complaints).toBe('');
      expect(listed.code).toBe(0);
      const names = Tools.parse(JSON.parse(listed.printed)).tools.map((tool) => tool.name);
      expect(names).toContain('demo__hello');

      const hello = await ask(
        '--method',
        'tools/call',
        '--tool-name',
        'demo__hello',
        '--tool-arg',
        'name=Ada',
      );
      expect(hello.code, hello.complaints).toBe(0);
      expect(new Answer(JSON.parse(hello.printed)).structured).toMatchObject({ url: `${stage.demo.url}/` });

      const failed = await ask('--method', 'tools/call', '--tool-name', 'trouble__who_am_i');
      expect(failed.code).toBe(5); // the Inspector's code for isError
      expect(new Answer(JSON.parse(failed.printed)).code).toBe('AUTH_ERROR');
    });
  }
}

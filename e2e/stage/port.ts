import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port for programs that cannot choose one themselves and say which, or that need the same one again. It is below
 * those that systems give to connections and to who asks for any: nobody is given it before the program has it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(12_000, 32_000);
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, () => resolve(true)); // at every address, ::1 too
    });
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

export function portOf(address: unknown): number {
  if (
    typeof address === 'object' &&
    address !== null &&
    'port' in address &&
    typeof address.port === 'number'
  ) {
    return address.port;
  }
  throw new Error('the server does not listen');
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that is free now, for programs that cannot choose one themselves and say which. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server.address());
  server.close();
  await once(server, 'close');
  return port;
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

// A TCP connection that can be cut: it stands between the extension and the relay.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Closing } from './closing.ts';

export interface Detour {
  address: string;
  /** Cuts every connection at once, without a goodbye. New ones are accepted. */
  cut(): void;
}

/**
 * Opens a proxy in front of a relay. It listens on the relay's own port at the IPv6 loopback address: the relay checks
 * the port in the Host header, and both sides prove which address was dialled.
 */
export async function openProxy(relay: string, closing: Closing): Promise<Detour> {
  const [host = '', port = ''] = relay.split(':');
  const open = new Set<Socket>();
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => {});
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  }).listen(Number(port), '::1');
  await once(server, 'listening');
  closing.defer(async () => {
    cut();
    server.close();
  });
  return { address: `[::1]:${port}`, cut };
}

// The real WebSocket to the relay.
import type { Socket, SocketListener } from './link.ts';

/** Dials the relay. */
export function dialSocket(url: string, listener: SocketListener): Socket {
  const socket = new WebSocket(url, 'tabrelay.v1');
  socket.onopen = () => listener.opened();
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string') listener.message(data);
  };
  socket.onclose = ({ code, reason }) => listener.closed(code, reason);
  return socket;
}

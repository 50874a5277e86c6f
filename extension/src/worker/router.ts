// Which frame of the relay goes where. A frame that is not listed is not obeyed.
import type { FromRelay } from '../protocol/frames.generated.ts';
import type { FrameOf } from './frames.ts';

type Routed = Exclude<
  FromRelay['type'],
  'relay' | 'proof' | 'paired' | 'refuse' | 'welcome' | 'ping' | 'pong'
>;

export type Routes = { [T in Routed]: (frame: FrameOf<T>, payload: string) => void };

/** Sends each frame of an open connection to its function. */
export function router(routes: Routes): (frame: FromRelay, payload: string) => void {
  return (frame, payload) => {
    switch (frame.type) {
      case 'call':
        return routes.call(frame, payload);
      case 'cancel':
        return routes.cancel(frame, payload);
      case 'ack':
        return routes.ack(frame, payload);
      case 'ask':
        return routes.ask(frame, payload);
      case 'plugins':
        return routes.plugins(frame, payload);
      case 'command':
        return routes.command(frame, payload);
      case 'response':
        return routes.response(frame, payload);
      case 'news':
        return routes.news(frame, payload);
    }
  };
}

// What the bridge does for the browser's own tools: dialogs are answered while they act, and told while they do not;
// what happens around an act is told; waits are as long in a hidden page as in any other.
import type { Attach } from '../../../bridge/core/capability.ts';
import type { News } from '../../../shared/bridge-messages.ts';
import { Acting } from './acting.ts';
import { Pauses } from './pauses.ts';

export const browser: Attach = ({ post, watchErrors }) => {
  const acting = new Acting(post);
  const pauses = new Pauses(post);
  acting.listen((open, dialog) => post({ type: 'dialog', open, dialog }));
  return {
    offers: {
      pause: (ms) => pauses.pause(ms),
      async watch(answer) {
        const watched = await acting.watch(answer);
        const errors = watchErrors();
        let over: Promise<News> | undefined;
        const end = async (): Promise<News> => {
          const [news, consoleErrors] = await Promise.all([watched.end(), errors()]);
          return { ...news, ...(consoleErrors.length > 0 && { consoleErrors }) };
        };
        return { ...watched, end: () => (over ??= end()) };
      },
    },
    greeted() {
      acting.lend(undefined); // the worker that lent the answer may have ended
    },
    hear(message) {
      switch (message.type) {
        case 'acting':
        case 'news':
          acting.hear(message);
          return true;
        case 'lend':
          acting.lend(message.answer);
          return true;
        case 'paused':
          pauses.hear(message.number);
          return true;
        default:
          return false;
      }
    },
  };
};

// What tabs show and their consoles say, for the relay's resources.
import { exactly, isNumber, isText, optional, shape } from '../../shared/guards.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import type { Attach } from '../../worker/core/capability.ts';
import { answerOf, bad } from '../../worker/core/commands.ts';
import { isSites } from '../../worker/tabs/sites.ts';
import { Consoles } from './consoles.ts';
import { type Frames, readTab, watchTab } from './reading.ts';

const isRead = shape({
  tabId: isNumber,
  kind: exactly('text', 'html'),
  from: isNumber,
  max: isNumber,
  sites: optional(isSites),
});
const isWatch = shape({ tabId: isNumber, kind: exactly('text', 'html'), mark: isText });
const isConsole = shape({ tabId: isNumber, holdMs: isNumber });

export const resources: Attach = ({ bridges, injector, plugins, requireAwake, send }) => {
  const consoles = new Consoles({ bridges, injector, store: chrome.storage.session, send });
  const frames: Frames = {
    covers(url) {
      const own = plugins.get('browser');
      return own === undefined || urlAllowed(url, own.matches, own.excludes);
    },
    origin: (documentId) => bridges.all().find((one) => one.documentId === documentId)?.origin,
  };
  return {
    commands: {
      async 'tabs.read'(params) {
        if (!isRead(params)) return bad('tabs.read needs tabId, kind, from and max');
        return answerOf(async () => {
          requireAwake(params.tabId);
          return readTab(params, frames);
        });
      },
      async 'tabs.watch'(params) {
        if (!isWatch(params)) return bad('tabs.watch needs tabId, kind and mark');
        return answerOf(async () => {
          requireAwake(params.tabId);
          return watchTab(params);
        });
      },
      async 'console.read'(params) {
        if (!isConsole(params)) return bad('console.read needs tabId and holdMs');
        return answerOf(async () => {
          requireAwake(params.tabId);
          return consoles.read(params.tabId, params.holdMs);
        });
      },
    },
    hear(bridge, message) {
      if (message.type !== 'consoleLines' && message.type !== 'consoleGrew') return false;
      consoles.hear(bridge, message);
      return true;
    },
    ready: (bridge) => consoles.ready(bridge),
    gone: (bridge) => consoles.gone(bridge),
    removed: (tabId) => consoles.removed(tabId),
  };
};

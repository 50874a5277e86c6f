// The tools that pages register.
import { isNumber, listOf, shape } from '../../shared/guards.ts';
import type { Attach } from '../../worker/core/capability.ts';
import { bad } from '../../worker/core/commands.ts';
import { PageTools } from './pagetools.ts';
import { adapter } from './port.ts';

const isFollow = shape({ tabIds: listOf(isNumber) });

export const webmcp: Attach = ({ tabs, bridges, injector, plugins, send }) => {
  const pageTools = new PageTools({
    tabs,
    bridges,
    injector,
    plugins,
    send: (tabId, documents) => send({ type: 'pagetools', tabId }, documents),
  });
  return {
    handlers: { page_tool: pageTools.perform },
    commands: {
      async 'pagetools.follow'(params) {
        if (!isFollow(params)) return bad('pagetools.follow needs tabIds');
        pageTools.follow(params.tabIds);
        return { ok: true, result: {} };
      },
    },
    adapters: [adapter],
    hear(bridge, message) {
      if (message.type !== 'tools') return false;
      pageTools.hear(bridge, message.text);
      return true;
    },
    gone: (bridge) => pageTools.gone(bridge),
    removed: (tabId) => pageTools.removed(tabId),
    called: (tabId) => pageTools.follow([tabId]),
    welcomed: ({ pageToolsOff }) => {
      pageTools.off = pageToolsOff === true;
    },
    listed: () => pageTools.tellAll(),
  };
};

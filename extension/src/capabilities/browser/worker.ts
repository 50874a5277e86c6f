// The browser's own tools: looks at pages, acts in them, ways to others.
import type { ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Attach } from '../../worker/core/capability.ts';
import { Acts } from './acts.ts';
import { findingIn, lookingAt, reading } from './looking.ts';
import { closing, navigating } from './moving.ts';
import { performing } from './performing.ts';
import { picturing } from './picture.ts';
import { Places } from './places.ts';
import { clicking } from './trusted.ts';
import { waitingIn } from './waiting.ts';

export const browser: Attach = ({ tabs, bridges, documents }) => {
  const acts = new Acts(bridges);
  const lookAt = lookingAt(documents);
  const wait = waitingIn(documents);
  const look = async (run: ToolRun): Promise<string> => {
    const [whole] = (await lookAt(run, { full: true })).content;
    return whole?.type === 'text' ? whole.text : '';
  };
  const places = new Places(documents);
  const act = performing(documents, places, { look, wait }, acts);
  return {
    handlers: {
      snapshot: (run) => lookAt(run),
      find: findingIn(documents),
      read: reading(documents),
      screenshot: picturing(documents, places),
      wait: (run) => wait(run),
      navigate: navigating(tabs, { look, wait }),
      close_tab: closing,
      click: clicking(act, documents),
    },
    standard: act,
    hear(bridge, message) {
      switch (message.type) {
        case 'act':
          acts.begin(bridge, message.number, message.answer);
          return true;
        case 'touched':
          acts.touched(bridge, message.on);
          return true;
        case 'requests':
          void acts.asked(bridge, message.number);
          return true;
        case 'acted':
          void acts.end(bridge, message.number);
          return true;
        case 'answered':
          acts.answered(bridge, message.dialog);
          return true;
        case 'pause':
          setTimeout(() => bridge.send({ type: 'paused', number: message.number }), message.ms);
          return true;
        default:
          return false;
      }
    },
    gone: (bridge) => acts.gone(bridge),
  };
};

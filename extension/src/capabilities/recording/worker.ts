// Recordings of tabs. Only the relay of the person's own terminal asks for these, after they agreed.
import { isFlag, isNumber, isText, shape } from '../../shared/guards.ts';
import type { Attach } from '../../worker/core/capability.ts';
import { answerOf, bad } from '../../worker/core/commands.ts';
import { Recorder } from './recorder.ts';

const isStart = shape({ tabId: isNumber, origin: isText, forMs: isNumber, reload: isFlag });
const isRecorded = shape({ tabId: isNumber });

export const recording: Attach = ({ bridges, injector }) => {
  const recorder = new Recorder({ bridges, injector });
  return {
    commands: {
      async 'record.start'(params) {
        if (!isStart(params)) return bad('record.start needs tabId, origin, forMs and reload');
        return answerOf(async () => {
          await recorder.start(params.tabId, params.origin, params.forMs, params.reload);
          return '{}';
        });
      },
      async 'record.read'(params) {
        if (!isRecorded(params)) return bad('record.read needs tabId');
        return answerOf(() => recorder.read(params.tabId));
      },
      async 'record.stop'(params) {
        if (!isRecorded(params)) return bad('record.stop needs tabId');
        recorder.stop(params.tabId);
        return { ok: true, result: {} };
      },
    },
    hear(bridge, message) {
      if (message.type !== 'recorded') return false;
      recorder.hear(bridge, message.told);
      return true;
    },
    ready: (bridge) => recorder.ready(bridge),
    removed: (tabId) => recorder.removed(tabId),
    lost: () => recorder.lost(),
  };
};

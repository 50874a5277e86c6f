// The part of a recording that a document does.
import type { Attach } from '../../../bridge/core/capability.ts';
import { Recording } from './recording.ts';

const sign = { client: '● tabrelay', title: 'This tab is being recorded' };

export const recording: Attach = ({ post, hold }) => {
  const session = new Recording((told) => post({ type: 'recorded', told }));
  return {
    hear(message) {
      if (message.type !== 'record') return false;
      if (session.set(message.on)) hold(message.on ? sign : undefined);
      return true;
    },
  };
};

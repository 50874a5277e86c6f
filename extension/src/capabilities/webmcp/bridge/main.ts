// Tells the worker of the tools that the page registers, once a script of this capability looks at them.
import type { Attach } from '../../../bridge/core/capability.ts';

declare global {
  interface TabrelayBridge {
    /** Takes how the page's tools are looked at; what it returns tells of them. */
    offer?(look: () => void): (text: string) => void;
  }
}

export const webmcp: Attach = ({ post }) => {
  let tools = ''; // as they were told last
  let lookAtTools = () => {};
  return {
    offers: {
      offer(look) {
        lookAtTools = look;
        return (text) => {
          if (text === tools) return;
          tools = text;
          post({ type: 'tools', text });
        };
      },
    },
    hear(message) {
      if (message.type !== 'look') return false;
      lookAtTools();
      return true;
    },
    greeted() {
      if (tools !== '') post({ type: 'tools', text: tools });
    },
  };
};

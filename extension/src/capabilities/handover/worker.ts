// Tells the person of what agents have asked them to do by hand, where they allowed notifications and no panel shows
// it. A click on one opens the panel, as on every notification.
import type { Attach } from '../../worker/core/capability.ts';
import { plain } from '../../worker/util/text.ts';
import { isHandovers } from './answers.generated.ts';

const prefix = 'handover ';
const topic = 'handovers';
const maxName = 40;
const maxWhy = 240;

export const handover: Attach = ({ ask, panelsOpen }) => {
  const told = new Set<string>(); // also those whose notification the person closed

  async function follow(): Promise<void> {
    if (chrome.notifications === undefined) return; // not allowed
    const { body } = await ask('GET', `/api/v1/${topic}`);
    if (!isHandovers(body)) return;
    const open = new Set(body.handovers.map(({ id }) => prefix + id));
    for (const id of told) if (!open.has(id)) told.delete(id);
    for (const id of Object.keys(await chrome.notifications.getAll()))
      if (id.startsWith(prefix) && !open.has(id)) chrome.notifications.clear(id);
    if (panelsOpen() > 0) return;
    for (const { id, client, why } of body.handovers) {
      if (told.has(prefix + id)) continue;
      told.add(prefix + id);
      await chrome.notifications.create(prefix + id, {
        type: 'basic',
        iconUrl: chrome.runtime.getURL('icons/128.png'),
        title: `${plain(client, maxName)} needs your hand`,
        message: `The agent says: “${plain(why, maxWhy)}”`,
        buttons: [{ title: 'Open' }],
      });
    }
  }

  return {
    news(topics) {
      if (topics.includes(topic)) follow().catch(() => {}); // the number at the icon stands
    },
  };
};

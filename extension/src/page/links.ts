// Follows javascript: links in the page's own world. Chrome refuses them to the world of an extension, also where the
// page allows them.
import { eventData, listen, slice } from '../shared/primordials.ts';

const linkEvent = 'tabrelay:link';

/** Listens for links that an act in the page followed. */
export function tapLinks(): void {
  listen(document, linkEvent, (event) => {
    const address = eventData(event);
    if (typeof address === 'string' && slice(address, 0, 11) === 'javascript:')
      window.location.href = address;
  });
}

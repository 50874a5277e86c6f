// Which addresses are of one site, as far as that can be said without the list of all public suffixes.

// Below these names of a country's domain everybody has sites of their own. Of a name that is missing here, more is
// told than is the page's own: better than that less is.
const shared = /^(?:ac|co|com|edu|go|gob|gov|gv|id|ltd|me|mil|ne|net|nhs|nom|or|org|plc|sch)$/;

function siteOf(address: string): string {
  const { hostname } = new URL(address);
  const labels = hostname.split('.');
  const [second = '', top = ''] = labels.slice(-2);
  if (/^\d+$/.test(top) || hostname.startsWith('[')) return hostname;
  return labels.slice(top.length === 2 && shared.test(second) ? -3 : -2).join('.');
}

/** Whether a page sends something to its own site: what it sends elsewhere is mostly there to count what people do. */
export function isSameSite(url: string, initiator: string | undefined): boolean {
  return initiator !== undefined && URL.canParse(initiator) && siteOf(initiator) === siteOf(url);
}

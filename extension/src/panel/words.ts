// Formats times, names and untrusted text for display.

/** Parses a time of the relay to milliseconds since 1970; undefined for none, and for Go's zero time (the year 1). */
export function moment(text: string | null | undefined): number | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) || at <= 0 ? undefined : at;
}

/** How long something took or takes: "3 s", "2 min 5 s", "1 h 4 min". */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long a call took, in milliseconds below one second. */
export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : span(ms));

/** How long ago: "just now", "5 min ago", "3 days ago". */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}

const sameDay = (one: Date, other: Date) => one.toDateString() === other.toDateString();

/** The time of day, with the date if it is not today. */
export function clock(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (sameDay(date, new Date(now))) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`;
}

// Characters that are invisible or change the direction of text: a person must see exactly what is sent.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]/gu;

/** Untrusted text with invisible characters replaced by their code points. */
export const visible = (text: string): string =>
  text.replace(hidden, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );

/** The same on one line. */
export const visibleLine = (text: string): string => visible(text.replace(/[\t\r\n]+/g, ' '));

/** The same, cut to a number of characters, so that untrusted text cannot fill the panel. */
export function clipped(text: string, most: number): string {
  const characters = [...visibleLine(text.slice(0, 4 * most + 16))];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}

/** The title of a tool; without one, its name without the plugin's, as words. */
export function toolTitle(tool: string, title: string | null | undefined): string {
  if (title) return visibleLine(title);
  const name = tool.slice(tool.indexOf('__') + (tool.includes('__') ? 2 : 1)).replaceAll('_', ' ');
  return visibleLine(name.charAt(0).toUpperCase() + name.slice(1));
}

/** Adds a full stop, unless there is punctuation at the end. */
export const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`);

interface Claim {
  called?: string | null | undefined;
  doubt?: string | null | undefined;
}

/** The name that an unnamed client claims, and why it is doubtful. */
export const claim = ({ called, doubt }: Claim): string =>
  `calls itself “${visibleLine(called ?? '')}”${doubt ? ` (${visibleLine(doubt)})` : ''}`;

/** The name of who acts: a client, or an agent for a client. */
export const actor = ({ agent, client }: { agent?: string | null | undefined; client: string }): string =>
  agent ? `${visibleLine(agent)} for ${visibleLine(client)}` : visibleLine(client);

/** Whether a failed call was carried out, in words. */
export function outcomeText(outcome: string | null | undefined): string {
  if (outcome === 'not_executed') return 'nothing was done';
  if (outcome === 'executed') return 'done, then failed';
  return 'unknown outcome: it may have been done';
}

// By failure code, endings that a person caused or can do something about; all others are “Failed”.
const endings: Record<string, string> = {
  APPROVAL_DENIED: 'You denied it',
  APPROVAL_TIMEOUT: 'Nobody answered',
  AUTH_ERROR: 'Not signed in',
  CANCELLED: 'Cancelled',
  PERMISSION_DENIED: 'Not allowed',
  PLUGIN_NOT_REVIEWED: 'Plugin not reviewed',
  RATE_LIMITED: 'Too many requests',
  TAB_OWNED: 'Another agent has the tab',
  TIMEOUT: 'Took too long',
};

/** How a failed call ended, in a few words. */
export const endingText = (code: string | null | undefined): string => endings[code ?? ''] ?? 'Failed';

/** An amount of US dollars. Less than a cent is not shown as zero. */
export function dollars(usd: number): string {
  if (usd > 0 && usd < 0.01) return 'less than $0.01';
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `$${Math.max(0, usd).toLocaleString('en', digits)}`;
}

/** A count with its noun: plural(2, 'tool') is "2 tools". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

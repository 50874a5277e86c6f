// How times, names and texts of strangers are written for a person.

/** A point in time of the relay as milliseconds since 1970; undefined for none (Go writes the year 1 for it). */
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

/** How long a call took, which may be a few milliseconds. */
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

/** The time of day, with the date when that is another day. */
export function clock(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (sameDay(date, new Date(now))) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`;
}

// Characters that are not seen or that turn the direction of text around: what a person reads must be what is sent.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]/gu;

/** Text of a stranger with every character visible: those that are not are written as their number. */
export const visible = (text: string): string =>
  text.replace(hidden, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );

/** The same in one line. */
export const visibleLine = (text: string): string => visible(text.replace(/[\t\r\n]+/g, ' '));

/** The same, with at most so many characters: what a stranger wrote is not to fill the panel. */
export function clipped(text: string, most: number): string {
  const characters = [...visibleLine(text.slice(0, 4 * most + 16))];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}

/** A tool as a person calls it: its title, else its name without the plugin's, spelled out. */
export function toolTitle(tool: string, title: string | null | undefined): string {
  if (title) return visibleLine(title);
  const name = tool.slice(tool.indexOf('__') + (tool.includes('__') ? 2 : 1)).replaceAll('_', ' ');
  return visibleLine(name.charAt(0).toUpperCase() + name.slice(1));
}

/** A text with a full stop, unless it ends otherwise. */
export const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`);

interface Claim {
  called?: string | null | undefined;
  doubt?: string | null | undefined;
}

/** What a client without a name calls itself, and what speaks against that. */
export const claim = ({ called, doubt }: Claim): string =>
  `calls itself “${visibleLine(called ?? '')}”${doubt ? ` (${visibleLine(doubt)})` : ''}`;

/** Who acts, for a person: a client, or an agent that acts for it. */
export const actor = ({ agent, client }: { agent?: string | null | undefined; client: string }): string =>
  agent ? `${visibleLine(agent)} for ${visibleLine(client)}` : visibleLine(client);

/** What became of a call that did not return, in words. */
export function outcomeText(outcome: string | null | undefined): string {
  if (outcome === 'not_executed') return 'nothing was done';
  if (outcome === 'executed') return 'done, then failed';
  return 'unknown outcome: it may have been done';
}

// How calls ended, where the person had a hand in it or may do something about it; the rest is a failure.
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

/** How a call that did not return ended, in a few words. */
export const endingText = (code: string | null | undefined): string => endings[code ?? ''] ?? 'Failed';

/** An amount of US dollars. What is less than a cent is not nothing. */
export function dollars(usd: number): string {
  if (usd > 0 && usd < 0.01) return 'less than $0.01';
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `$${Math.max(0, usd).toLocaleString('en', digits)}`;
}

/** One or many: plural(2, 'tool') is "2 tools". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

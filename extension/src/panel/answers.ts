// What the relay's paths answer, as far as the panel reads it. An answer of another shape is not shown.
import {
  exactly,
  type Guard,
  type Guarded,
  isAnything,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  shape,
} from '../shared/guards.ts';

/** Go leaves a field out, or writes null, where there is nothing. */
const maybe =
  <T>(guard: Guard<T>): Guard<T | null | undefined> =>
  (value): value is T | null | undefined =>
    value === undefined || value === null || guard(value);

const text = maybe(isText);
const number = maybe(isNumber);
const flag = maybe(isFlag);
const texts = maybe(listOf(isText));
const isMode = exactly('off', 'ask', 'auto');
export type Mode = Guarded<typeof isMode>;

const isLine = shape({
  depth: isNumber,
  continues: flag,
  pieces: listOf(shape({ kind: exactly('name', 'value', 'note'), text: isText })),
});
export type Line = Guarded<typeof isLine>;
/** A stretch of all arguments; without next the last one. */
export const isPart = shape({ lines: listOf(isLine), next: number });

const isQuestion = shape({
  id: isText,
  asked: isText, // times are RFC 3339
  until: isText,
  client: isText,
  called: text,
  doubt: text, // why it is not to be taken for what it calls itself
  agent: text, // the agent that calls for the client
  via: text,
  tool: isText,
  title: text,
  plugin: text,
  pluginTitle: text,
  risk: exactly('reads', 'changes', 'destroys'),
  profile: text,
  tabId: number,
  origin: text,
  url: text,
  tabTitle: text,
  shown: shape({ lines: listOf(isLine), summary: isText, hidden: isNumber, secret: isNumber }),
  changes: text,
  note: text,
  reason: text, // why the agent needs it, in its own words
  sentence: isText, // the question in one line
  lead: text, // the same without what it lists
  deeds: texts, // which are what an act will do, a sentence for each thing
  elsewhere: text, // other sites that a form is sent to
  effects: texts, // what weighs more than a change
  covers: text, // what an answer for the session allows, after "may"
  choices: listOf(isText), // the first is what is asked
  first: flag,
  missed: flag, // nobody answered in time; until `until` it can be allowed for the next time
  allowedNext: flag,
});
export type Question = Guarded<typeof isQuestion>;

const isDifferences = listOf(shape({ what: isText, before: isText, after: isText }));
const isChange = shape({
  id: isText,
  kind: exactly('asked', 'config', 'start', 'lost', 'carried', 'updated'),
  title: isText,
  command: text,
  differences: isDifferences,
  text,
  digest: isText,
  from: isText,
  until: text,
  aside: flag, // the person has put it aside
});
export type Change = Guarded<typeof isChange>;
/** What waits for the person: calls, and changes that let agents do more. */
export const isApprovals = shape({
  approvals: listOf(isQuestion),
  missed: listOf(isQuestion),
  changes: listOf(isChange),
  ended: listOf(shape({ id: isText, how: isText })), // the last ones
});

const isRunningCall = shape({
  id: isText,
  client: isText,
  agent: text,
  agentSession: text,
  tool: isText,
  title: text,
  tabId: number,
  profileId: text,
  profile: text,
  origin: text,
  began: isText,
  called: text, // what a client without a name calls itself
  doubt: text,
  attached: text, // since when its program is there, where there are several
  state: exactly('asking', 'queued', 'running'),
  readOnly: flag,
  color: text, // as below
  waitsFor: text,
  ahead: number,
  progress: maybe(shape({ progress: isNumber, total: number, message: text })),
});
export type RunningCall = Guarded<typeof isRunningCall>;
const isRunningRecording = shape({
  client: isText,
  profileId: isText,
  profile: text,
  tabId: isNumber,
  origin: isText,
  began: isText,
  requests: isNumber,
});
export type RunningRecording = Guarded<typeof isRunningRecording>;
export const isRunning = shape({
  calls: listOf(isRunningCall),
  recordings: maybe(listOf(isRunningRecording)), // older relays do not say
});

const isOwner = shape({ client: isText, agent: text, since: text });
const isTab = shape({
  profileId: isText,
  profile: text,
  tabId: isNumber,
  url: isText,
  title: text,
  owner: maybe(isOwner),
  acting: flag,
});
export type Tab = Guarded<typeof isTab>;
export const isTabs = shape({ tabs: listOf(isTab) });

const isRule = shape({
  target: isText,
  client: text,
  mode: isMode,
  until: text,
  by: text,
  from: exactly('person', 'config', 'built-in'),
  waits: flag,
  noEffect: text, // why: another rule is stricter wherever this one is about
  except: texts, // rules that are stricter for a part of it
});
export type Rule = Guarded<typeof isRule>;
const isGrant = shape({
  id: isText,
  client: isText,
  allows: isText, // in words, after "may"
  profile: text,
  until: text,
});
export type Grant = Guarded<typeof isGrant>;
export const isPermissions = shape({
  default: shape({ readOnly: isMode, other: isMode }),
  rules: listOf(isRule),
  grants: listOf(isGrant),
});

export const isPaused = shape({ paused: isFlag });

const isTool = shape({
  name: isText,
  title: text,
  readOnly: flag,
  destructive: flag,
  mode: isMode,
  why: text,
});
export type Tool = Guarded<typeof isTool>;
const isPlugin = shape({
  name: isText,
  title: text,
  version: text,
  description: text,
  shipped: flag,
  added: flag, // by the person, who can remove it
  folder: text, // of theirs
  settings: number, // how many there are
  unset: flag, // it needs one of them
  state: exactly('ready', 'not_open', 'signed_out', 'broken', 'unreviewed', 'off'),
  reason: text,
  homepage: text,
  patterns: texts,
  tools: listOf(isTool),
});
export type Plugin = Guarded<typeof isPlugin>;
export const isPlugins = shape({ plugins: listOf(isPlugin) });

const isOneAddition = shape({
  from: isText,
  step: text, // what goes on; none: it is over
  plugin: text, // its name, once it is there
  state: text, // how far its review is
  notes: listOf(isText),
  problem: text,
  hint: text,
});
export type Addition = Guarded<typeof isOneAddition>;
export const isAddition = shape({ addition: maybe(isOneAddition) });

const isProfile = shape({ id: isText, label: isText, connected: isFlag, seen: isText, own: isFlag });
export type Profile = Guarded<typeof isProfile>;
export const isProfiles = shape({ profiles: listOf(isProfile) });
/** What pairs another browser: an address with a string that is good once. */
export const isPairingString = shape({ text: isText, until: isText });

const isSetting = shape({
  name: isText,
  type: isText,
  label: text,
  description: text,
  placeholder: text,
  required: isFlag,
  secret: isFlag,
  options: texts,
  default: isAnything,
  set: isFlag,
  value: isAnything, // absent for a secret
  problem: text,
});
export type Setting = Guarded<typeof isSetting>;
export const isSettings = shape({
  settings: listOf(isSetting),
  patterns: texts,
  problem: text,
});
/** Why settings were not saved: by setting, or because they let agents do more than the person has read. */
export const isUnusable = shape({
  fields: (value: unknown): value is Record<string, string> =>
    isRecord(value) && Object.values(value).every(isText),
});
export const isUnconfirmed = shape({ digest: isText, change: shape({ differences: isDifferences }) });

const isClient = shape({
  name: isText,
  registered: flag,
  lastSeen: text,
  scope: maybe(shape({ toolset: text, plugins: text, readOnly: flag })),
  attached: number,
  via: texts,
  color: text, // of its tab groups: the name of one of Chrome's
});
export type Client = Guarded<typeof isClient>;
export const isClients = shape({ clients: listOf(isClient) });

const isSpent = shape({
  requests: isNumber,
  inputTokens: isNumber,
  outputTokens: isNumber,
  usd: isNumber,
  unpriced: number,
});
export type Spent = Guarded<typeof isSpent>;
const byName = (value: unknown): value is Record<string, Spent> =>
  isRecord(value) && Object.values(value).every((one) => isSpent(one));

const isAgent = shape({
  id: isText,
  capabilities: texts,
  status: exactly('ready', 'busy', 'unavailable'),
  providers: maybe(listOf(shape({ id: isText, models: texts }))),
  program: text, // what runs; none: the agent is on models
  trouble: text,
  default: flag,
});
export type Agent = Guarded<typeof isAgent>;
/** The agents that act for clients, and what they cost today in US dollars. A ceiling of 0 is none. */
export const isAgents = shape({
  agents: listOf(isAgent),
  spentUsd: isNumber,
  mostUsd: isNumber,
  spent: byName,
});
export type Agents = Guarded<typeof isAgents>;

const isAgentSession = shape({
  id: isText,
  agent: isText,
  client: isText,
  color: text,
  state: exactly('active', 'busy', 'idle', 'failed'),
  created: isText,
  doing: shape({ turn: isNumber, calls: isNumber, most: number }),
  spent: isSpent,
});
export type AgentSession = Guarded<typeof isAgentSession>;
export const isAgentSessions = shape({ sessions: listOf(isAgentSession) });

const isFinding = shape({ id: isText, severity: isText, what: isText, why: text, next: text, fix: text });
export type Finding = Guarded<typeof isFinding>;
export const isDiagnosis = shape({ findings: listOf(isFinding) });

export const isReviews = shape({
  reviews: listOf(shape({ plugin: isText, title: text, hash: text, new: flag, since: text })),
});

const isFile = shape({ path: isText, size: number, text });
const isDifference = shape({ path: isText, change: text, text });
export type Difference = Guarded<typeof isDifference>;
const isReviewedTool = shape({
  name: isText,
  title: text,
  description: text,
  readOnly: flag,
  destructive: flag,
  change: text,
});
export type ReviewedTool = Guarded<typeof isReviewedTool>;
const isReviewed = shape({ hash: isText, at: text, by: text });
export const isReview = shape({
  plugin: isText,
  title: text,
  version: text,
  hash: isText,
  source: text,
  world: text,
  hosts: texts,
  excludes: texts,
  permissions: texts,
  changes: texts,
  partly: flag,
  tools: maybe(listOf(isReviewedTool)),
  files: maybe(listOf(isFile)),
  diff: maybe(listOf(isDifference)),
  reviewed: maybe(isReviewed),
});
export type Review = Guarded<typeof isReview>;

const isEntry = shape({
  n: isNumber,
  at: isText,
  kind: isText,
  client: text,
  agent: text,
  asker: text,
  via: text,
  tool: text,
  plugin: text,
  profile: text,
  tabId: number,
  origin: text,
  decision: text,
  decidedBy: text,
  outcome: text,
  code: text,
  durationMs: number,
  callId: text,
  detail: text,
  arguments: text,
});
export type LogEntry = Guarded<typeof isEntry>;
export const isAudit = shape({ entries: listOf(isEntry), next: isAnything });

export const isVerified = shape({
  whole: isFlag,
  rows: isNumber,
  problems: maybe(listOf(shape({ message: isText }))),
});

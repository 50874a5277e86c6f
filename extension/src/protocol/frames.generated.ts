// Generated from relay/browser/wire/schema by `npm run generate`. Do not edit.
// biome-ignore-all lint: generated
/**
 * Relay: these outcomes are recorded and may be forgotten.
 */
export interface AckFrame {
  type: 'ack';
  /**
   * Items: call id: 128 random bits
   */
  ids: string[];
}
/**
 * Relay: how far did these calls get?
 */
export interface AskFrame {
  type: 'ask';
  calls: {
    /**
     * call id: 128 random bits
     */
    id: string;
    tabId: number;
  }[];
}
/**
 * Relay: run a tool. The payload is its arguments, one JSON object.
 */
export interface CallFrame {
  type: 'call';
  /**
   * call id: 128 random bits
   */
  id: string;
  /**
   * the id that people and agents see; absent when it is id, which a later attempt has of its own
   */
  correlationId?: string;
  plugin: string;
  /**
   * the plugin version the call was checked against
   */
  hash: string;
  /**
   * the tool's name without the plugin's
   */
  tool: string;
  tabId: number;
  /**
   * the tool may change something
   */
  write: boolean;
  /**
   * time left: without progress for that long the page aborts the call
   */
  timeoutMs: number;
  /**
   * time left however much progress there is
   */
  maxTimeoutMs: number;
  /**
   * progress restarts timeoutMs
   */
  progressExtends: boolean;
  /**
   * a larger result is replaced in the page by OUTPUT_TOO_LARGE
   */
  maxResultBytes: number;
  /**
   * how large the result may be to reach the agent whole; absent when that is not known
   */
  maxBytes?: number;
  /**
   * the plugin's configuration; absent when there is none
   */
  settings?: {
    [k: string]: unknown;
  };
  /**
   * the settings are not for a page that ran scripts before the adapter came
   */
  secret?: boolean;
  /**
   * how much of the page's console to send with a failure; 0 for none
   */
  consoleTailBytes: number;
  /**
   * run in every frame that has the adapter
   */
  frames?: 'all';
  /**
   * a thrown error names the place it came from, as traceLine
   */
  trace?: boolean;
  /**
   * the outcome says when the steps of the call happened, as times
   */
  timed?: boolean;
  /**
   * somebody works on the plugin: what its calls bring besides their outcomes is sent, as followed
   */
  follow?: boolean;
  /**
   * of the document that the call is for: in another one it is not run
   */
  origin?: string;
  /**
   * a regular expression: lines of the page's console that match it are progress
   */
  progressPattern?: string;
  /**
   * who called, for the mark on the tab
   */
  client?: string;
  /**
   * tells the sessions of agents apart that look at one page; what they are called is not in it
   */
  viewer?: string;
  /**
   * what people call the tool, for the mark on the tab
   */
  title?: string;
  /**
   * which sites the call may touch; absent: only the origin it is for (protocol 3)
   */
  sites?: {
    /**
     * every origin that is not in origins
     */
    rest: 'open' | 'ask' | 'off';
    /**
     * by origin, such as https://example.org
     */
    origins: {
      [k: string]: 'open' | 'ask' | 'off';
    };
    /**
     * an administrator's policy names sites by patterns: rest is off then
     */
    within?: {
      /**
       * match patterns of whole sites
       */
      allow: string[];
      /**
       * the same, and stronger
       */
      deny: string[];
      /**
       * every origin that allow covers, deny does not, and origins does not name
       */
      rest: 'open' | 'ask' | 'off';
    };
  };
}
/**
 * Relay: abort a call, or never start it.
 */
export interface CancelFrame {
  type: 'cancel';
  /**
   * call id: 128 random bits
   */
  id: string;
  reason: 'client' | 'deadline' | 'shutdown';
}
/**
 * Relay: do something to the browser itself.
 */
export interface CommandFrame {
  type: 'command';
  /**
   * call id: 128 random bits
   */
  id: string;
  name:
    | 'tabs.create'
    | 'tabs.activate'
    | 'tabs.reload'
    | 'tabs.group'
    | 'adapter.inject'
    | 'tabs.read'
    | 'tabs.watch'
    | 'console.read'
    | 'pagetools.follow'
    | 'record.start'
    | 'record.read'
    | 'record.stop'
    | 'reload';
  /**
   * tabs.create {url, active, sites, matches, excludes}, the last three as in a call, for an agent: a tab whose way leads to what is off is closed, and answered with {stopped, before}, that origin and whether anything was asked for; else answered with {tabId, windowId, status: "complete" or "loading", begun, httpStatus} or the error PAGE_NOT_LOADED with Chrome's reason; tabs.activate {tabId}; tabs.reload {tabId}; tabs.group {groups: [{title, color, tabs: [tabId]}]}; adapter.inject {tabId, plugin}; tabs.read {tabId, kind: "text" or "html", from, max}; tabs.watch {tabId, kind, mark}; console.read {tabId, holdMs}; pagetools.follow {tabIds}; record.start {tabId, origin, forMs, reload}; record.read {tabId}, answered with {events, others, ended} within 10 s; record.stop {tabId}; reload {}
   */
  params?: {
    [k: string]: unknown;
  };
}
/**
 * Extension: the console of a tab that was read has grown, or began anew with another document.
 */
export interface ConsoleFrame {
  type: 'console';
  tabId: number;
}
/**
 * Extension: what a followed call brought besides its outcome, which may come first.
 */
export interface FollowedFrame {
  type: 'followed';
  /**
   * call id: the call of the line; of an error the plugin's latest call in that document
   */
  id: string;
  plugin: string;
  tool: string;
  /**
   * rejection: of a promise that nobody awaited; early: from before the first call there
   */
  kind: 'console' | 'error' | 'rejection' | 'early';
  text: string;
  /**
   * places of an error in the plugin's file, innermost first, as path:line:column
   */
  places?: string[];
  /**
   * how long after that call had ended; absent when it had not
   */
  afterMs?: number;
}
/**
 * Extension: who is dialling. The first frame of a connection.
 */
export interface HelloFrame {
  type: 'hello';
  /**
   * the protocol versions this extension speaks
   */
  protocol: {
    min: number;
    max: number;
  };
  /**
   * version of the extension
   */
  extension: string;
  /**
   * hash over the files of the extension folder, pairing.json excluded
   */
  bundle: string;
  /**
   * random; lives as long as storage.session does
   */
  epoch: string;
  profile: {
    /**
     * random; names this browser profile for ever
     */
    id: string;
    /**
     * what people call the profile
     */
    label: string;
  };
  /**
   * version of the browser
   */
  chrome: string;
  /**
   * random, never used twice
   */
  nonce: string;
  /**
   * a policy of the browser installed the extension
   */
  managed?: boolean;
  /**
   * it has a one-time string instead of the pairing secret, and asks for that (protocol 2)
   */
  pair?: boolean;
}
/**
 * Extension: the handler logged a line.
 */
export interface LogFrame {
  type: 'log';
  /**
   * call id: 128 random bits
   */
  id: string;
  level: 'debug' | 'info' | 'warning' | 'error';
  message: string;
  /**
   * any JSON
   */
  data?: {
    [k: string]: unknown;
  };
}
/**
 * Relay: what the side panel shows of these topics is different now. Since protocol 2.
 */
export interface NewsFrame {
  type: 'news';
  /**
   * each is a path below /api/v1/; empty when only waiting is told
   */
  topics: string[];
  /**
   * how many questions wait for the person at this profile
   */
  waiting: number;
}
/**
 * Extension: something a person should see in the relay's status.
 */
export interface NoticeFrame {
  type: 'notice';
  level: 'info' | 'warning' | 'error';
  message: string;
}
/**
 * Extension: how a call ended. With status returned the payload is the value, one JSON value. Sent again after every welcome until it is acknowledged.
 */
export interface OutcomeFrame {
  type: 'outcome';
  /**
   * call id: 128 random bits
   */
  id: string;
  status: 'returned' | 'threw' | 'refused';
  /**
   * the handler was started
   */
  started: boolean;
  /**
   * threw: code, category, retryable, retryAfterMs, message and outcome of what was thrown, verbatim, and its traceLine when the call asks for one; the relay validates them
   */
  error?: {
    [k: string]: unknown;
  };
  /**
   * refused: extension or page runtime ended the call
   */
  refusal?: {
    code:
      | 'TAB_NOT_FOUND'
      | 'TAB_CHANGED'
      | 'TAB_CLOSED'
      | 'TAB_UNRESPONSIVE'
      | 'TAB_BUSY'
      | 'ADAPTER_NOT_READY'
      | 'INJECTION_FAILED'
      | 'OUTPUT_TOO_LARGE'
      | 'INVALID_OUTPUT'
      | 'TIMEOUT'
      | 'CANCELLED';
    message: string;
    outcome: 'not_executed' | 'executed' | 'unknown';
    /**
     * TIMEOUT: which clock ran out. ADAPTER_NOT_READY: not_ready, the plugin was asked for its while and said no; withheld, the page could read the secret settings. Neither gets better by trying again at once
     */
    reason?: 'fixed' | 'idle' | 'max_exceeded' | 'not_ready' | 'withheld';
    /**
     * ADAPTER_NOT_READY: where a person signs in, as the plugin says
     */
    signIn?: string;
  };
  /**
   * origin of the document it ran in
   */
  origin?: string;
  /**
   * URL of the frame, when not the top one
   */
  frame?: string;
  /**
   * a main-world adapter was injected after scripts of the page ran
   */
  trust?: 'late';
  /**
   * end of what the page wrote to its console during the call
   */
  consoleTail?: string;
  durationMs: number;
  /**
   * epoch of the worker that took the call
   */
  epoch: string;
  /**
   * when the steps of a call with timed happened, in order
   *
   * @maxItems 200
   */
  times?: {
    /**
     * the document has the adapter; the write is recorded; a document was asked, its handler started and ended, and its answer came; the outcome is sent. The clock of started and ended is the document's, placed in the middle between asked and answered
     */
    step: 'prepared' | 'recorded' | 'asked' | 'started' | 'ended' | 'answered' | 'sent';
    /**
     * microseconds since the call came
     */
    us: number;
    /**
     * asked, answered: which part of a tool of the browser's own
     */
    what?: string;
  }[];
}
/**
 * Extension: the tools that the documents of a tab register (WebMCP), all of them. The payload is a list of documents.
 */
export interface PageToolsFrame {
  type: 'pagetools';
  tabId: number;
}
/**
 * Relay: the pairing secret, for an extension that proved a one-time string. The connection closes next. Since protocol 2.
 */
export interface PairedFrame {
  type: 'paired';
  /**
   * sealed: exclusive or with a key that only both sides can make
   */
  secret: string;
}
/**
 * Extension: so many side panels of this profile are open. Since protocol 2.
 */
export interface PanelsFrame {
  type: 'panels';
  open: number;
}
/**
 * Both: are you there? Answered with pong at once.
 */
export interface PingFrame {
  type: 'ping';
}
/**
 * What the extension must know of a plugin to run its tools.
 */
export interface PluginInfo {
  name: string;
  /**
   * SHA-256 over manifest, adapter and pre-script
   */
  hash: string;
  world: 'main' | 'isolated';
  /**
   * URL match patterns of the pages it works in
   */
  matches: string[];
  /**
   * URL match patterns of pages it must not touch
   */
  excludes: string[];
  /**
   * path of the adapter inside the extension folder
   */
  file: string;
  /**
   * path of a script that runs in the main world before any script of the page
   */
  preScript?: string;
  /**
   * run in every frame, not only in the top one
   */
  frames?: 'all';
}
/**
 * Relay: every plugin there is, after welcome and on every change.
 */
export interface PluginsFrame {
  type: 'plugins';
  plugins: PluginInfo[];
}
/**
 * Both: the answer to ping.
 */
export interface PongFrame {
  type: 'pong';
}
/**
 * Extension: the person has named this profile. Since protocol 2.
 */
export interface ProfileFrame {
  type: 'profile';
  /**
   * what people call the profile, at most 64 characters of it count
   */
  label: string;
}
/**
 * Extension: the handler reported progress.
 */
export interface ProgressFrame {
  type: 'progress';
  /**
   * call id: 128 random bits
   */
  id: string;
  progress: number;
  total?: number;
  message?: string;
  /**
   * the page is not in front: Chrome slows its timers, and what they do comes late
   */
  hidden?: boolean;
}
/**
 * Both, relay first: proof that the sender knows the pairing secret.
 */
export interface ProofFrame {
  type: 'proof';
  proof: string;
}
/**
 * Relay: why the connection is closed next.
 */
export interface RefuseFrame {
  type: 'refuse';
  /**
   * a code of the error table, for example VERSION_MISMATCH
   */
  code: string;
  /**
   * one sentence that says what to do
   */
  message: string;
}
/**
 * Relay: its answer to hello.
 */
export interface RelayFrame {
  type: 'relay';
  /**
   * the version this connection speaks
   */
  protocol: number;
  /**
   * version of the relay
   */
  relay: string;
  /**
   * random; good for one proof and five seconds
   */
  nonce: string;
}
/**
 * Extension: the answer to command. A result that may be large is the payload.
 */
export interface ReplyFrame {
  type: 'reply';
  /**
   * call id: 128 random bits
   */
  id: string;
  ok: boolean;
  /**
   * any JSON; absent when there is nothing to say, or when the payload is it
   */
  result?: {
    [k: string]: unknown;
  };
  error?: {
    code: string;
    message: string;
  };
}
/**
 * Extension: the side panel asks the relay for something. The payload, if there is one, is the body: one JSON value. Since protocol 2.
 */
export interface RequestFrame {
  type: 'request';
  /**
   * random; names the request on this connection
   */
  id: string;
  /**
   * GET, PUT, POST or DELETE; others are answered with 405
   */
  method: string;
  /**
   * with the query; begins with /api/v1/, others are answered with 404; at most 2048 bytes, longer ones with 414
   */
  path: string;
}
/**
 * Relay: the answer to a request. The payload is the body: one JSON value; text that is not JSON is a JSON string. Since protocol 2.
 */
export interface ResponseFrame {
  type: 'response';
  id: string;
  /**
   * as in HTTP
   */
  status: number;
}
/**
 * Extension: the document is about to run the handler.
 */
export interface StartedFrame {
  type: 'started';
  /**
   * call id: 128 random bits
   */
  id: string;
  /**
   * Chrome's id of the document
   */
  documentId: string;
  /**
   * origin of the document
   */
  origin: string;
  /**
   * the page is not in front: Chrome slows its timers, and what they do comes late
   */
  hidden?: boolean;
}
/**
 * Extension: the answer to ask, one for each id. finished is followed by the outcome.
 */
export interface StateFrame {
  type: 'state';
  /**
   * call id: 128 random bits
   */
  id: string;
  /**
   * not_started only if it is proven, and then the call never starts
   */
  state: 'not_started' | 'running' | 'finished' | 'unknown';
  /**
   * epoch of the worker that answers
   */
  epoch: string;
  /**
   * why it is unknown: TAB_CLOSED, TAB_CHANGED or TAB_UNRESPONSIVE where one of them fits, else words for the log
   */
  reason?: string;
}
/**
 * Extension: a tab was opened or changed.
 */
export interface TabFrame {
  type: 'tab';
  tab: TabInfo;
}
/**
 * One open tab. Only tabs with http and https URLs are told.
 */
export interface TabInfo {
  /**
   * Chrome's tab id; unique within one profile until the browser ends
   */
  id: number;
  windowId: number;
  /**
   * the whole URL, fragment included
   */
  url: string;
  title: string;
  /**
   * the tab shown in its window
   */
  active: boolean;
  /**
   * its window has the focus, or had it last while another program has it
   */
  focused: boolean;
  /**
   * Chrome has unloaded it
   */
  discarded: boolean;
  status: 'unloaded' | 'loading' | 'complete';
  /**
   * when it was last active, in milliseconds since 1970; only compared with other tabs of the same browser
   */
  lastUsed: number;
}
/**
 * Extension: a tab was closed, or shows a page that is not told.
 */
export interface TabClosedFrame {
  type: 'tabclosed';
  tabId: number;
  /**
   * the id that the tab has now: Chrome gives it another one when it unloads its page
   */
  became?: number;
}
/**
 * Extension: every tab there is, after welcome.
 */
export interface TabsFrame {
  type: 'tabs';
  tabs: TabInfo[];
}
/**
 * Relay: the connection stands.
 */
export interface WelcomeFrame {
  type: 'welcome';
  /**
   * hash of the extension the relay has; another one than hello said means: reload when no call is open
   */
  bundle: string;
  /**
   * how often the extension sends ping
   */
  pingMs: number;
  limits: {
    /**
     * largest frame either side may send
     */
    frameBytes: number;
    /**
     * largest result of a call that does not say otherwise
     */
    resultBytes: number;
    /**
     * largest outcome that is kept in storage.session
     */
    storedOutcomeBytes: number;
  };
  /**
   * how long the relay lets a call wait for this profile to come back
   */
  gapMs: number;
  /**
   * how long a document may take to start a call; 4000 if missing
   */
  startMs?: number;
  /**
   * true: no page is looked at for tools that it registers
   */
  pageToolsOff?: boolean;
  /**
   * what the person types in a terminal before a command of tabrelay; empty: they have none; older relays do not say
   */
  command?: string;
}

/** Every frame the relay may send. */
export type FromRelay = RelayFrame | ProofFrame | PairedFrame | WelcomeFrame | RefuseFrame | PluginsFrame | CallFrame | AckFrame | CancelFrame | AskFrame | CommandFrame | ResponseFrame | NewsFrame | PingFrame | PongFrame;

/** Every frame the extension may send. */
export type FromExtension = HelloFrame | ProofFrame | TabsFrame | TabFrame | TabClosedFrame | StartedFrame | ProgressFrame | LogFrame | OutcomeFrame | StateFrame | ReplyFrame | ConsoleFrame | FollowedFrame | PageToolsFrame | ProfileFrame | PanelsFrame | RequestFrame | PingFrame | PongFrame | NoticeFrame;

// Package relay puts the parts together: it makes them, joins them, and ends them in order. It is the only place
// where everything meets.
//
// # The way of one call
//
//	agent                              a shell                     an agent that acts for a client
//	  | tools/call                       | tabrelay call,             | a model or a program
//	  | (stdio, streamable HTTP)         | /api/v1/tools/{name}/call  | carries out an errand
//	  v                                  v                            v
//	agent/join -> agent/client         program/httpapi              a capability
//	  | who it is, and its session       |                            |
//	  v                                  |                            |
//	agent/front: request -> call.Call    |                            |
//	  |                                  |                            |
//	  +----------------------------------+----------------------------+
//	                                     v
//	road/dispatch    find -> check arguments -> policy (off?) -> deadline
//	                   -> [resolve -> policy (ask?) -> queue -> send]*   repeated by retry.go
//	                   -> check result -> record
//	                                     v
//	browser/hub      Resolve: which profile, which tab; Send: journal (state/store) -> connection -> calls in flight
//	                                     | frame (browser/wire) over WebSocket
//	                                     v
//	extension        worker: link -> frames -> invoke -> inject if needed; then bridge: main -> calls -> adapter
//	                                     v
//	page             runtime -> adapters/<site> -> the web app
//
// The result takes this way back: page/runtime -> bridge/calls -> worker/inflight -> records -> hub/conn -> hub/outcome
// (a failure becomes a fault.Error) -> hub/send -> dispatch/retry -> front/result.
//
// # The way of one approval
//
// dispatch/permission.go: permit asks the policy (policy/decide.go: Allow), and where a person has to say so, previews
// an act (preview.go) and calls policy/ask.go: Ask. The question waits in policy/approvals.go. The topic "approvals"
// changes: the extension's panel reads GET /api/v1/approvals (program/httpapi/permissions.go) over its connection, a
// terminal does over the socket, and the call's own client is asked by elicitation (front/ask.go). The first answer
// counts (Answer). It becomes a binding (binding.go), which Allow compares with the call when it is tried again.
//
// An agent on stdio does not speak to the relay itself: `tabrelay mcp` (agent/join) is a pipe between its stdin and
// the relay's socket, and finds or starts the one relay of the home folder.
//
// # Rooms, from the bottom up
//
// What each package is for stands in its own comment. Who may import whom is a table, and a test: deps_test.go.
//
//   - lib: small helpers that know nothing of ours: locks whose order is checked in tests, JSON that is not decoded
//     whole, match patterns, posting to receivers, processes with limits for code that is not trusted.
//   - road: the way of a call. call and plugin have the nouns, fault the failures, dispatch carries a call out;
//     schedule is the one place where calls wait; registry has the tools, policy what agents may do; result makes
//     answers small enough.
//   - browser: wire has the frames (PROTOCOL.md there is the specification), hub the connections, tabs and calls in
//     flight; launch finds and starts a browser.
//   - state: what outlives the relay, or is told of it: store (one SQLite file), config, audit, metrics, logfile.
//   - plugin: build makes a plugin of its folder without Node, and loads it; install, review, trial; catalog says which
//     plugins there are.
//   - agent: front speaks MCP, and mcp-go stays inside; join is the stdio proxy and the instance lock; client has who
//     has a token or is connected; prompt the recipes of plugins.
//   - program: what stands around: httpapi (one table of routes), builtin (the relay's own tools), doctor, connect,
//     autostart, bench.
//   - capability: what the relay can do besides, a folder each, attached by one line in capabilities.go.
//   - relay: this package, which makes the parts and ends them. cmd/tabrelay: flags, terminal, exit codes.
//
// Four questions have one answer each. A timeout is decided in road/dispatch/deadline.go and enforced first in the page
// (extension/src/page/clock.ts). A ToolError is validated by fault.FromPage in road/fault/validate.go. A tab is chosen
// in hub/resolve.go (ranking in hub/tabs.go, ownership in hub/lease.go). The approval of a call is bound by bind in
// policy/binding.go, that of a change by Change.Digest.
//
// # Words
//
//   - agent: the program that calls tools. Client: the program it runs in, with a name and a token.
//   - person: the human user.
//   - era (of MCP): up to 2025-11-25 (legacy), or from 2026-07-28 on (modern).
//   - session: one attachment of one client: the connection of its stdio proxy, its session over HTTP, or the commands
//     of one terminal or of one name in a shell. Tab affinity and ownership belong to it.
//   - toolset: what a client asks to see of its tools. Gateway: three tools by which the others are found and called.
//     Offer: the tools that are listed because of what is open in the browsers; that of a session only grows.
//   - scope: what one client may see and call at the most. Rule: whether a tool is off, asked about, or runs.
//   - pending approval: what waits for the person: a call (a question), or a change that lets agents do more (a
//     widening). Missed question: one that nobody answered in time; the person can still allow the next such call.
//   - binding: what one approval is for. Grant: an approval of more than one call.
//   - act: a call of the browser's own tools that changes a page. Preview: what its page says it would do, before the
//     person is asked. Deeds: that, in sentences. Effects: those of its consequences that have special weight.
//   - owner: the session that may change something in a tab. Lease: its hold on the tab.
//   - profile: one browser profile with the extension. Its identity outlives its connections. Pairing: giving
//     the extension the secret by which the relay and it know each other.
//   - epoch: one life of the extension's worker between two losses of its memory.
//   - position: that of a call in the order in which its client made its calls; held until the call has joined a queue.
//   - queue: the calls that wait in one tab. Turn: when a call may run there. Slot: one of the calls that may run at
//     once.
//   - target: the tab that a call goes to. Attempt: one sending of a call; a retry is another one.
//   - flight: a call that was sent to a browser. Journal: the record of writing calls, in SQLite. Dead letter: a call
//     whose end nobody saw, or that failed at every attempt.
//   - peer (in front): the client that sends MCP requests. Exchange: one request in flight, with its outlet, on which
//     its notifications and its response are written.
//   - plugin: a set of tools for one web app. Adapter: the part of it that runs in the page.
//   - task (in front): a call that goes on although its request has its answer; its client asks how far it is. Round
//     trip: one of the requests by which a client of the modern era has another one carried out, when it is asked
//     something meanwhile.
//   - capability: what the relay can do besides carrying out calls, and what can be taken out; attached: see there.
//   - bounded session: one in which an agent acts for a client; its Bounds say for whom, and within what.
//   - errand: what a client asks of such an agent, in one prompt or several. To lend: to give the session of its
//     program, until it ends, a token or tabs of the client.
//   - site: a plugin together with what a person configured for it. Instance: one installation of a web app.
//   - main world: where the scripts of a page run. Isolated world: where those of the extension run, with a view of the
//     page that its scripts cannot change. Late (in an extension): injected after the page's scripts ran.
//   - worker: in the extension its service worker.
//   - bridge: the extension's resident script in a page's isolated world.
//   - tap (in a page): the script that records the page's console and answers its dialogs.
//   - closed document: one whose site is off for a call, or needs a question first. Spot: the place of a frame in the
//     page around it.
//   - mcp-agentic: a server whose clients parse the JSON texts of fault.Error.AgenticText.
//   - outcome: whether an action happened: not_executed, executed or unknown. Late: learned after the call had ended.
//   - hint: of an error, the next step. Of a tool, what it does as its author or the person says (MCP's readOnlyHint).
//   - trail: the ends of all calls, and what plugins log in them, for who works on a plugin.
//   - sheet: what a person reads of a plugin before they accept it. Widening: a change by which agents may do more.
//   - instance lock: held by the one relay of a home folder. Stdio proxy: `tabrelay mcp`, between an MCP client and the
//     relay. Minimal mode: how it answers while no relay can be reached.
//   - temporary relay: one that a command started, and that ends by itself; circumstances: what it was started with.
//   - access guard: what looks at Host, Origin and token of a request before a handler does. Connection limiter: what
//     closes connections whose senders have shown no token, when there are too many.
//   - catalog: which plugins there are, and which content of them runs. Topic: one thing that the side panel shows.
//
// # Locks
//
// A lock that nests inside another names the order in its package: hub (Hub.mu, groups.mu, leases.mu, browser.mu,
// queue.mu), front (sessions.mu, httpSession.mu, openRequests.mu), join (Proxy.sending, inFlight.mu). Between packages:
// the lock under which tools of pages are offered, registry's change lock, under which listeners run, then the front's.
// Nothing is called back into a package whose lock is held. Policy, catalog and client make their changes one after the
// other, each in a goroutine of its own: no lock is held while they wait for a file or the store.
package relay

// Package capability is how something that the relay can do besides carrying out calls is attached to it: what it may
// bring, and what it may ask of the core. The core names no capability: each is one folder, and one line in
// relay/capabilities.go.
package capability

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Capability is one that a program has.
type Capability struct {
	Name string
	// Settings are what it adds to the configuration.
	Settings config.Attached

	// Group is the group of its tools, which need no permission of their own: whatever they do with a site is a call
	// of another tool. Empty: it has no tools.
	Group string
	// Instructions are what a client is told in place of the common ones that asks for this group and nothing else.
	Instructions string
	// Beside are tools of the core that the toolset of the group lists, too.
	Beside     []string
	Codes      fault.Group // of its failures
	Situations []situation.Situation
	Findings   []doctor.Row  // what the doctor says of [Running.Lacks]
	Tables     *store.Tables // nil: it keeps nothing
	Commands   []Command

	// New makes it in a relay, before its configuration is known.
	New func(Core) Attachment
}

// Attachment is a capability in one relay. Functions may be nil.
type Attachment struct {
	Routes  []httpapi.Route
	Bounded front.Bounded          // runs the calls of agents that act for a client
	Meters  []prometheus.Collector // what Prometheus reads

	// Tools are those of the group as they are now; [Core.ToolsChanged] has them read again.
	Tools func() []registry.Tool
	// Configured takes over a configuration: the first one, and each that is changed while the relay runs.
	Configured func(config.Config)
	// Resources are what agents read by URI; one capability at most has them.
	Resources front.Resources
	// PageTools knows which tools pages register; one capability at most does.
	PageTools hub.PageTools
	// TabGone hears that a tab was closed; 0: all tabs of the profile.
	TabGone func(profileID string, tabID int)
	// SessionEnded hears that a session of a client has ended.
	SessionEnded func(session string)
	// Lacks is what keeps it from working, for the doctor and the status.
	Lacks func() []doctor.Lack
	// Waiting is how many of its requests wait for the person at a profile; empty: at all.
	Waiting func(profileID string) int
	// Paused hears that the person has stopped everything.
	Paused func()
	// Health is what bridge_health says of agents and their sessions.
	Health func() builtin.AgentHealth
	// Close ends it while the browsers are still connected.
	Close func()
}

// Core is what a capability may ask of the relay that it is in.
type Core struct {
	Config  config.Config // of the start
	Home    config.Home
	Version string
	Address func() string // host and port, once the relay listens
	Log     func(part string) zerolog.Logger

	Tools    Tools
	Store    *store.Store
	Browsers Browsers
	Reading  Reading
	Kept     builtin.Kept
	Audit    func(call.Entry)
	// OpenTab opens a tab that is a person's.
	OpenTab func(ctx context.Context, s call.Session, n builtin.NewTab) (builtin.OpenedTab, *fault.Error)
	// Ask asks the person whether something may happen that is no call of a tool.
	Ask func(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(string)) *fault.Error
	// Confirm asks the person whether something may be changed, for a request of theirs: it says who allowed it, or
	// what the answer is because nobody did.
	Confirm func(w http.ResponseWriter, req *http.Request, c *policy.Change) (by string, denied *httpapi.Refusal)
	// Permit says whether a tool may do something that has no call of its own: as a rule or an earlier answer says, or
	// else the person, who is asked as by Ask.
	Permit func(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(string)) *fault.Error
	// NoTab reports whether no connected browser has a tab of an id, although one is connected.
	NoTab func(id int) bool
	// LendTabs hands a bounded session the tabs of its asker that its bounds name, until back.
	LendTabs func(s call.Session) (back func())
	// LendToken makes a token with which a program reaches the tools of a bounded session, until it is revoked.
	LendToken func(s call.Session) (token string, revoke func())
	// ReleaseSession ends what a bounded session owns in browsers, and what it was allowed.
	ReleaseSession func(session string)
	// Corrupt counts a message of a peer that could not be used.
	Corrupt func(peer string)

	// OfferPageTools offers these tools of pages, and no others.
	OfferPageTools func([]registry.PageTool)

	Events       *event.Bus
	Changed      func(topics ...string) // side panels show something else now
	ToolsChanged func()
	Notice       func(message string) // tells the person something about the configuration
}

// Browsers are those that are connected.
type Browsers interface {
	// Tabs lists the tabs of all profiles.
	Tabs() []hub.Tab
	// Command has the extension of a profile do something.
	Command(ctx context.Context, profileID, name string, params any) (json.RawMessage, *fault.Error)
	// Trouble is why no browser is connected, or nil when one is.
	Trouble() *fault.Error
	// OnTabs calls listener, which does not block, until stop.
	OnTabs(listener func(hub.TabNews)) (stop func())
}

// Reading decides what of open tabs a client may read.
type Reading interface {
	// Readable reports whether the configuration lets agents see a page, wherever rules say nothing about it.
	Readable(address string) bool
	// RefuseTabs says why a client may read no tab at all, nil when it may read some.
	RefuseTabs(s call.Session) *fault.Error
	// ShowsTab reports whether a tab is to be listed for a client.
	ShowsTab(s call.Session, at call.Target) bool
	// TellsTab reports whether the list may tell a client a tab's title and path, and not its site alone.
	TellsTab(s call.Session, at call.Target) bool
	// TabSites is whose documents a client may read in a tab that it may read.
	TabSites(s call.Session, at call.Target) call.Sites
	// ReadTab waits until a client may read a URI of a tab, as if it called a tool.
	ReadTab(
		ctx context.Context, id call.ID, s call.Session, at call.Target, tool, uri string,
		client func(context.Context, call.Question) (call.Answer, error),
	) *fault.Error
}

// Tools are the tools of the relay, as an agent that acts for a client has them.
type Tools interface {
	// List returns the tools that a session may see.
	List(s call.Session) []*registry.Tool
	// Offer says which of them are of use in what is open now.
	Offer() *registry.Offer
	// Find returns the tool of a name, whoever may see it.
	Find(name string) (*registry.Tool, bool)
	// Reserve takes the next position in the order of a session's calls, for [call.Call.Position].
	Reserve(session string) call.Position
	// Do carries a call out.
	Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error)
}

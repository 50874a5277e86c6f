// Package capability has the interface between the core and its capabilities, which are features besides carrying out
// calls: what a capability provides, and what it may use of the core. The core names no capability: each is one folder,
// and one line in relay/capabilities.go.
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

// Capability is the registration of one capability: what is known of it before a relay runs.
type Capability struct {
	Name string
	// Settings is its section of the configuration.
	Settings config.Attached

	// Group is the group of its tools; empty when it has none. They need no permission: whatever they do with a site is
	// a call of another tool, which does.
	Group string
	// Instructions replace the common ones for clients whose toolset is this group alone.
	Instructions string
	// Beside names tools of the core that the toolset of this group lists, too.
	Beside     []string
	Codes      fault.Group // codes of its failures
	Situations []situation.Situation
	Findings   []doctor.Row  // the rows of the doctor's table that [Attachment.Lacks] returns ids of
	Tables     *store.Tables // nil: it stores nothing
	Commands   []Command

	// New attaches it to a relay that starts. Nothing of the core may be called before New returns; the first
	// configuration comes with [Attachment.Configured].
	New func(Core) Attachment
}

// Attachment is a capability in one relay. Functions may be nil.
type Attachment struct {
	Routes  []httpapi.Route
	Bounded front.Bounded          // runs the calls of bounded sessions
	Meters  []prometheus.Collector // metrics

	// Tools returns the current tools of the group; [Core.ToolsChanged] has the relay call it again.
	Tools func() []registry.Tool
	// Configured gets the configuration at the start, and after each reload.
	Configured func(config.Config)
	// Resources serves MCP resources; at most one capability has it.
	Resources front.Resources
	// PageTools handles the tools that pages register; at most one capability has it.
	PageTools hub.PageTools
	// Watch is told of each call before it begins, as [dispatch.Options] has it; at most one capability has it.
	Watch func(c *call.Call) (ended func(span call.Trace, failure *fault.Error))
	// TabGone is called when a tab was closed; 0: all tabs of the profile.
	TabGone func(profileID string, tabID int)
	// SessionEnded is called when a session of a client has ended.
	SessionEnded func(session string)
	// Lacks returns what keeps it from working, for the doctor and the status.
	Lacks func() []doctor.Lack
	// Waiting counts its requests that wait for the person at a profile; empty: at any.
	Waiting func(profileID string) int
	// Advice is the next step that a client which may use a tool of the group is told after a failure; empty: none.
	Advice func(f *fault.Error) string
	// Paused is called when the person has stopped everything.
	Paused func()
	// Health returns what bridge_health says about agents and their sessions.
	Health func() builtin.AgentHealth
	// Close is called when the relay stops, while the browsers are still connected.
	Close func()
}

// Core is what a capability may use of its relay.
type Core struct {
	Config  config.Config // at the start
	Home    config.Home
	Version string
	Address func() string // host and port; not before the relay listens
	Log     func(part string) zerolog.Logger

	Tools    Tools
	Store    *store.Store
	Browsers Browsers
	Reading  Reading
	Kept     builtin.Kept
	Audit    func(call.Entry)
	// OpenTab opens a tab that no session owns.
	OpenTab func(ctx context.Context, s call.Session, n builtin.NewTab) (builtin.OpenedTab, *fault.Error)
	// Ask asks the person to allow an action that is not a tool call: in the side panel, and through client, if the
	// client can ask, too. tell reports that the person is being asked.
	Ask func(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(string)) *fault.Error
	// Confirm has the person confirm a change that they requested over HTTP. It returns who confirmed it, or the
	// response to send when nobody did.
	Confirm func(w http.ResponseWriter, req *http.Request, c *policy.Change) (by string, denied *httpapi.Refusal)
	// Permit checks an action that is not a tool call against rules and grants, and asks the person, as Ask does, where
	// these say so.
	Permit func(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(string)) *fault.Error
	// NoTab reports whether a browser is connected and none has a tab of this id.
	NoTab func(id int) bool
	// LendTabs gives a bounded session the tabs of its asker that its bounds name, until back is called.
	LendTabs func(s call.Session) (back func())
	// LendToken makes a token for the program of a bounded session, valid until revoke is called.
	LendToken func(s call.Session) (token string, revoke func())
	// ReleaseSession releases the tabs and drops the grants of a bounded session.
	ReleaseSession func(session string)
	// Corrupt counts an invalid message of a peer, for metrics and status.
	Corrupt func(peer string)

	// OfferPageTools replaces the published tools of pages.
	OfferPageTools func([]registry.PageTool)

	// OnRecorded calls listener, which must not block, when entries of the audit log were written, until stop is
	// called.
	OnRecorded func(listener func()) (stop func())

	Events       *event.Bus
	Changed      func(topics ...string) // side panels refresh these topics
	ToolsChanged func()
	Notice       func(message string) // tells the person something about the configuration
}

// Browsers are the connected browsers.
type Browsers interface {
	// Tabs returns the tabs of all profiles.
	Tabs() []hub.Tab
	// Command sends the extension of a profile a command, and returns its answer.
	Command(ctx context.Context, profileID, name string, params any) (json.RawMessage, *fault.Error)
	// Trouble says why no browser is connected; nil when one is.
	Trouble() *fault.Error
	// OnTabs calls listener, which must not block, for each change of tabs until stop is called.
	OnTabs(listener func(hub.TabNews)) (stop func())
}

// Reading decides what a client may read of open tabs.
type Reading interface {
	// Readable reports whether tabs.urlPatterns and tabs.excludePatterns let agents see a page.
	Readable(address string) bool
	// RefuseTabs says why a client may read no tab at all, nil when it may read some.
	RefuseTabs(s call.Session) *fault.Error
	// ShowsTab reports whether a tab is to be listed for a client.
	ShowsTab(s call.Session, at call.Target) bool
	// TellsTab reports whether the list may tell a client a tab's title and path, and not its site alone.
	TellsTab(s call.Session, at call.Target) bool
	// TabSites returns the sites whose documents a client may read in a tab that it may read.
	TabSites(s call.Session, at call.Target) call.Sites
	// ReadTab checks whether a client may read a URI of a tab, by the rules for tools, and asks the person where these
	// say so.
	ReadTab(
		ctx context.Context, id call.ID, s call.Session, at call.Target, tool, uri string,
		client func(context.Context, call.Question) (call.Answer, error),
	) *fault.Error
}

// Tools are the tools of the relay, for agents that act for a client.
type Tools interface {
	// List returns the tools that a session may see.
	List(s call.Session) []*registry.Tool
	// Offer returns which of them are useful with the pages that are open now.
	Offer() *registry.Offer
	// Find returns a tool by name, without regard to who may see it.
	Find(name string) (*registry.Tool, bool)
	// Reserve takes the next position in the order of a session's calls, for [call.Call.Position].
	Reserve(session string) call.Position
	// Do carries out a call.
	Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error)
}

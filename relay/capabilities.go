package relay

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability"
	"tabrelay/relay/capability/auditexport"
	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/devtools"
	"tabrelay/relay/capability/fleet"
	"tabrelay/relay/capability/handover"
	"tabrelay/relay/capability/recording"
	"tabrelay/relay/capability/resources"
	"tabrelay/relay/capability/script"
	"tabrelay/relay/capability/tracing"
	"tabrelay/relay/capability/webmcp"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

//go:generate go test -run TestDocumentedMetricsAreReal|TestPublished -update .

// capabilities of this program. The program builds and runs without any of these lines.
var capabilities = []capability.Capability{
	delegation.Capability,
	devtools.Capability,
	handover.Capability,
	recording.Capability,
	resources.Capability,
	webmcp.Capability,
	script.Capability,
	auditexport.Capability,
	tracing.Capability,
	fleet.Capability,
}

func init() {
	for _, one := range capabilities {
		if one.Group != "" {
			policy.AttachGroup(one.Group)
		}
		config.Attach(one.Settings)
		if len(one.Codes.Rows) > 0 {
			fault.Attach(one.Codes)
		}
		situation.Attach(one.Situations)
		doctor.Attach(one.Findings)
		if one.Tables != nil {
			doctor.AttachTables(one.Tables)
		}
	}
}

// Commands yields the name of each capability with each command that it adds to the program.
func Commands() iter.Seq2[string, capability.Command] {
	return func(yield func(string, capability.Command) bool) {
		for _, one := range capabilities {
			for _, command := range one.Commands {
				if !yield(one.Name, command) {
					return
				}
			}
		}
	}
}

// Toolsets returns the toolsets that are not names of plugins: all, gateway, and the groups of the capabilities that
// are switched on.
func Toolsets(c config.Config) []string {
	list := []string{"all", "gateway"}
	for _, one := range capabilities {
		if one.Group != "" && c.Has(one.Name) {
			list = append(list, one.Group)
		}
	}
	return list
}

// tables returns the tables of all capabilities. Those that are switched off keep their data.
func tables() (list []*store.Tables) {
	for _, one := range capabilities {
		if one.Tables != nil {
			list = append(list, one.Tables)
		}
	}
	return list
}

// CheckStore is the error for the database of a home folder that this program is too old for; nil: it is not, or what
// is wrong with it shows when it is opened.
func CheckStore(ctx context.Context, home config.Home) error {
	return store.CheckVersion(ctx, home, tables()...)
}

// attachments are the capabilities of one relay that are switched on.
type attachments []capability.Attachment

// attach makes the capabilities that are switched on. r.front, r.clients and r.api do not exist yet: the functions of
// Core that use them are not called before the relay serves.
func (r *Relay) attach() error {
	core := capability.Core{
		Config: r.config, Home: r.Home, Version: Version, Address: r.Address, Log: r.logFor,
		Tools: toolsOfAgents{r}, Store: r.store, Ask: r.ask, Permit: r.permit, NoTab: r.hub.NoTab,
		Browsers: r.hub, Reading: r.policy, Kept: builtin.Kept{Of: r.ownTools.Letters}, Audit: r.audit.Record,
		LendTabs: r.hub.Lend,
		OpenTab: func(ctx context.Context, s call.Session, n builtin.NewTab) (builtin.OpenedTab, *fault.Error) {
			return builtin.TabsOf(r.hub).Open(ctx, call.Call{Session: s}, n)
		},
		Confirm: func(w http.ResponseWriter, req *http.Request, c *policy.Change) (string, *httpapi.Refusal) {
			return r.api.Confirmed(w, req, c)
		},
		LendToken:      func(s call.Session) (string, func()) { return r.clients.Lend(s) },
		OnRecorded:     r.recorded.listen,
		ReleaseSession: r.releaseSession, Corrupt: r.meter.Corruption, Events: &r.events,
		Changed: r.panels.Changed, ToolsChanged: r.listOwnTools, Notice: r.notice, OfferPageTools: r.tools.SetPageTools,
	}
	for _, one := range capabilities {
		if !r.config.Has(one.Name) {
			continue
		}
		r.attachedAs = append(r.attachedAs, one)
		made := one.New(core)
		r.meter.Add(made.Meters...)
		r.attached = append(r.attached, made)
	}
	return r.attached.checkUnique(r.attachedAs)
}

// checkUnique fails when two capabilities provide what one of them can at most.
func (a attachments) checkUnique(of []capability.Capability) error {
	for what, brings := range map[string]func(capability.Attachment) bool{
		"know the tools of pages": func(one capability.Attachment) bool { return one.PageTools != nil },
		"have resources":          func(one capability.Attachment) bool { return one.Resources != nil },
		"watch calls":             func(one capability.Attachment) bool { return one.Watch != nil },
	} {
		var names []string
		for i, one := range a {
			if brings(one) {
				names = append(names, of[i].Name)
			}
		}
		if len(names) > 1 {
			return fmt.Errorf("the capabilities %s all %s, which one can at most: switch the others off",
				strings.Join(names, ", "), what)
		}
	}
	return nil
}

// configure passes a configuration to the capabilities. The first time it also lists their tools, which may depend on
// it.
func (r *Relay) configure(c config.Config) {
	for _, one := range r.attached {
		if one.Configured != nil {
			one.Configured(c)
		}
	}
	if !r.toolsListed.Swap(true) {
		r.listOwnTools()
	}
}

// listOwnTools publishes the relay's own tools and the current ones of the capabilities.
func (r *Relay) listOwnTools() {
	tools := r.ownTools.List()
	for i, one := range r.attachedAs {
		if one.Group == "" {
			continue
		}
		for j := range tools {
			if slices.Contains(one.Beside, tools[j].Name) {
				tools[j].Beside = append(tools[j].Beside, one.Group)
			}
		}
		tools = append(tools, r.attached[i].Tools()...)
	}
	r.tools.SetBuiltins(tools)
}

// instructions returns, by group, the instructions for clients whose toolset is that group alone.
func (r *Relay) instructions() map[string]string {
	by := map[string]string{}
	for _, one := range r.attachedAs {
		if one.Group != "" {
			by[one.Group] = one.Instructions
		}
	}
	return by
}

// watcher is what is told of each call; nil: nothing is.
func (a attachments) watcher() func(*call.Call) func(call.Trace, *fault.Error) {
	for _, one := range a {
		if one.Watch != nil {
			return one.Watch
		}
	}
	return nil
}

// advice returns, by group of tools, what is advised after failures.
func (r *Relay) advice() map[string]func(*fault.Error) string {
	by := map[string]func(*fault.Error) string{}
	for i, one := range r.attached {
		if one.Advice != nil {
			by[r.attachedAs[i].Group] = one.Advice
		}
	}
	return by
}

// bounded returns, by name of the capability, what runs calls of bounded sessions.
func (r *Relay) bounded() map[string]front.Bounded {
	by := map[string]front.Bounded{}
	for i, one := range r.attached {
		if one.Bounded != nil {
			by[r.attachedAs[i].Name] = one.Bounded
		}
	}
	return by
}

// health adds up the health of all agents.
func (a attachments) health() (sum builtin.AgentHealth) {
	for _, one := range a {
		if one.Health != nil {
			sum = sum.With(one.Health())
		}
	}
	return sum
}

// pageTools returns the capability that handles tools of pages; nil when there is none.
func (a attachments) pageTools() hub.PageTools {
	for _, one := range a {
		if one.PageTools != nil {
			return one.PageTools
		}
	}
	return nil
}

// resources returns the capability that serves resources; nil when there is none.
func (a attachments) resources() front.Resources {
	for _, one := range a {
		if one.Resources != nil {
			return one.Resources
		}
	}
	return nil
}

// waiting counts what waits for the person at a profile; empty: at any.
func (a attachments) waiting(profileID string) (n int) {
	for _, one := range a {
		if one.Waiting != nil {
			n += one.Waiting(profileID)
		}
	}
	return n
}

func (a attachments) paused() {
	for _, one := range a {
		if one.Paused != nil {
			one.Paused()
		}
	}
}

func (a attachments) tabGone(profileID string, tabID int) {
	for _, one := range a {
		if one.TabGone != nil {
			one.TabGone(profileID, tabID)
		}
	}
}

func (a attachments) routes() (list []httpapi.Route) {
	for _, one := range a {
		list = append(list, one.Routes...)
	}
	return list
}

func (a attachments) lacks() (list []doctor.Lack) {
	for _, one := range a {
		if one.Lacks != nil {
			list = append(list, one.Lacks()...)
		}
	}
	return list
}

func (a attachments) sessionEnded(session string) {
	for _, one := range a {
		if one.SessionEnded != nil {
			one.SessionEnded(session)
		}
	}
}

// close closes the capabilities in reverse order.
func (a attachments) close() {
	for _, one := range slices.Backward(a) {
		if one.Close != nil {
			one.Close()
		}
	}
}

// toolsOfAgents implements capability.Tools.
type toolsOfAgents struct{ relay *Relay }

// List returns the tools that a session may see.
func (t toolsOfAgents) List(s call.Session) []*registry.Tool {
	view := t.relay.policy.View(s)
	return slices.DeleteFunc(slices.Clone(t.relay.tools.Snapshot().Tools),
		func(one *registry.Tool) bool { return view.Shows != nil && !view.Shows(one) })
}

// Offer says which tools are of use in what is open now.
func (t toolsOfAgents) Offer() *registry.Offer {
	return t.relay.tools.Snapshot().Offer(openPages{t.relay.hub}.Site, false)
}

// Find returns the tool of a name.
func (t toolsOfAgents) Find(name string) (*registry.Tool, bool) {
	return t.relay.tools.Snapshot().Find(name)
}

// Reserve takes the next position in the order of a session's calls.
func (t toolsOfAgents) Reserve(session string) call.Position { return t.relay.calls.Reserve(session) }

// Do carries a call out.
func (t toolsOfAgents) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	return t.relay.calls.Do(ctx, c)
}

// ask asks the person to allow an action that is not a tool call.
func (r *Relay) ask(ctx context.Context, a call.Access,
	client func(context.Context, call.Question) (call.Answer, error), tell func(string)) *fault.Error {
	if r.policy.Paused() {
		return fault.New(fault.PermissionDenied, "Every agent was stopped", fault.WithOutcome(fault.NotExecuted))
	}
	_, failure := r.policy.Ask(ctx, a, client, tell)
	return failure
}

// permit applies rules and grants to an action that is not a tool call, and asks the person where they say so.
func (r *Relay) permit(ctx context.Context, a call.Access,
	client func(context.Context, call.Question) (call.Answer, error), tell func(string)) *fault.Error {
	says, failure := r.policy.Allow(a)
	if failure == nil && says.Ask {
		_, failure = r.policy.Ask(ctx, a, client, tell)
	}
	return failure
}

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/agent/client"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
)

// Status is the answer of GET /api/v1/status.
type Status struct {
	Running    bool                   `json:"running"`
	State      string                 `json:"state,omitempty"` // full, or degraded: no browser is connected
	Version    string                 `json:"version,omitempty"`
	PID        int                    `json:"pid,omitempty"`
	Address    string                 `json:"address,omitempty"`
	Home       string                 `json:"home"`
	Demo       string                 `json:"demo,omitempty"` // URL of the demo site
	Uptime     int64                  `json:"uptimeMs,omitempty"`
	Extension  ExtensionStatus        `json:"extension"`
	Browsers   []hub.Browser          `json:"browsers"`
	Tabs       []hub.Tab              `json:"tabs"`
	Clients    []client.Attached      `json:"clients"`
	Plugins    []PluginStatus         `json:"plugins"`
	Tools      int                    `json:"tools"`
	Default    policy.Defaults        `json:"permissions"` // what is done about tools that no rule names
	Paused     bool                   `json:"paused,omitempty"`
	Questions  int                    `json:"questions,omitempty"` // that wait for an answer of the person
	Problems   []registry.Problem     `json:"problems"`
	Refused    *catalog.Refusal       `json:"refused,omitempty"`    // a configuration that was not taken over
	Reviews    []catalog.ReviewStatus `json:"reviews"`              // of the plugins in a person's folders
	Unreviewed bool                   `json:"unreviewed,omitempty"` // review.required is false: every plugin runs
	// what of the configuration waits for the person, because it lets agents do more
	Unapplied string `json:"unapplied,omitempty"`
	// the keys of that, as config.json has them
	UnappliedKeys []string `json:"unappliedKeys,omitempty"`

	Policy string `json:"policy,omitempty"` // the file of an administrator that bounds all of it
	// what this start lets agents do that the one before did not, until the person has seen it
	Widened    string         `json:"widened,omitempty"`
	Lost       string         `json:"lost,omitempty"`       // why rules may be missing; empty: they are not
	Narrowed   string         `json:"narrowed,omitempty"`   // what an update made the rules forbid, until it was seen
	Updated    string         `json:"updated,omitempty"`    // the tools that an update brought, until it was seen
	Restart    []string       `json:"restart,omitempty"`    // keys of the configuration that wait for a restart
	Trouble    *fault.Error   `json:"trouble,omitempty"`    // why no browser is connected
	Corruption map[string]int `json:"corruption,omitempty"` // messages that could not be used, by peer
	Lacks      []doctor.Lack  `json:"agents,omitempty"`     // what keeps capabilities from working
	Notices    []event.Notice `json:"notices"`
	Calls      []CallStatus   `json:"calls"` // that changed something, the last first
}

// NotRunning is the status of a home folder without a relay.
func NotRunning(home string) Status {
	return Status{Home: home, Browsers: []hub.Browser{}, Tabs: []hub.Tab{}, Clients: []client.Attached{},
		Plugins: []PluginStatus{}, Problems: []registry.Problem{}, Reviews: []catalog.ReviewStatus{},
		Notices: []event.Notice{}, Calls: []CallStatus{}}
}

// ExtensionStatus is what the relay holds of the extension.
type ExtensionStatus struct {
	Folder string `json:"folder"`
	Bundle string `json:"bundle"` // hash; empty in a binary that was built without
	ID     string `json:"id"`
	// TrustedInput says that it has Chrome's debugger.
	TrustedInput bool `json:"trustedInput,omitempty"`
}

// PluginStatus is one plugin that is offered.
type PluginStatus struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Shipped bool     `json:"shipped"`
	Folder  string   `json:"folder,omitempty"`
	World   string   `json:"world"`
	Matches []string `json:"matches"`
	Tools   int      `json:"tools"`
}

// CallStatus is one journalled call, without what it was told and what it answered.
type CallStatus struct {
	ID     call.ID   `json:"id"`
	Tool   string    `json:"tool"`
	Client string    `json:"client"`
	Time   time.Time `json:"time"`
	State  string    `json:"state"`
}

// recentCalls is how many calls the status shows.
const recentCalls = 10

func (a *API) showStatus(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	s := a.Status(req.Context())
	if session := Sender(req.Context()); !policy.IsPerson(session) {
		s = s.forAgent(session.Client)
	}
	return s, nil
}

// forAgent is what an agent reads of it: how the relay is, and what it did itself. Which tabs are open is the person's
// to tell (browser__list_tabs asks), as are the folders of the machine and what other clients do.
func (s Status) forAgent(name string) Status {
	s.Home, s.PID, s.Extension.Folder = "", 0, ""
	s.Tabs, s.Problems, s.Reviews, s.Notices, s.Questions = []hub.Tab{}, []registry.Problem{}, []catalog.ReviewStatus{},
		[]event.Notice{}, 0
	s.Refused, s.Unapplied, s.Widened, s.Narrowed, s.Updated, s.Lacks = nil, "", "", "", "", nil
	s.UnappliedKeys = nil
	s.Clients = slices.DeleteFunc(s.Clients, func(a client.Attached) bool { return a.Client != name })
	s.Calls = slices.DeleteFunc(s.Calls, func(c CallStatus) bool { return c.Client != name })
	s.Plugins = slices.Clone(s.Plugins)
	for i := range s.Plugins {
		s.Plugins[i].Folder = ""
	}
	return s
}

// Public is the status without what the person has open and did, for a report.
func (s Status) Public() Status {
	s.Tabs, s.Demo = nil, ""
	s.Browsers, s.Notices = listed(s.Browsers), listed(s.Notices)
	for i := range s.Browsers {
		s.Browsers[i].Label, s.Browsers[i].ProfileID = fmt.Sprintf("profile %d", i+1), ""
	}
	for i := range s.Notices {
		s.Notices[i].Profile = ""
	}
	return s
}

// Status is how the relay is now.
func (a *API) Status(ctx context.Context) Status {
	snapshot := a.Tools.Snapshot()
	s := Status{
		Running: true, State: builtin.State(a.Hub), Refused: a.Catalog.Refused(), Restart: a.Catalog.Restart(),
		Trouble: a.Hub.Trouble(), Corruption: a.Meter.Corruptions(), Version: a.Version, PID: os.Getpid(),
		Address: a.Address, Home: string(a.Home), Uptime: time.Since(a.Began).Milliseconds(),
		Extension: ExtensionStatus{Folder: a.Catalog.ExtensionFolder(), ID: extension.ID,
			Bundle:       extension.FlavourOf(a.Catalog.TrustedInput()).Hash,
			TrustedInput: a.Catalog.TrustedInput()},
		Browsers: listed(a.Hub.Browsers()), Tabs: listed(a.Hub.Tabs()), Clients: a.Clients.Attached(),
		Plugins: []PluginStatus{},
		Tools:   len(snapshot.Tools), Problems: a.Catalog.Problems(), Notices: a.Notices.All(), Calls: a.recent(ctx),
		Lacks:     a.Lacks(),
		Policy:    a.Policy.ManagedFile(),
		Unapplied: a.Policy.Unapplied(), UnappliedKeys: a.Policy.UnappliedKeys(), Widened: a.Policy.Widened(),
		Lost: a.Policy.Lost(), Narrowed: a.Policy.Narrowed(), Updated: a.Policy.Updated(),
	}
	reviews, required := a.Catalog.Reviews()
	s.Reviews, s.Unreviewed = reviews, !required
	s.Default = a.Policy.Default()
	s.Paused, s.Questions = a.Policy.Paused(), a.Policy.Waiting("")
	if a.Demo != nil {
		s.Demo = a.Demo.URL()
	}
	for _, site := range snapshot.Sites {
		m := site.Plugin.Manifest
		s.Plugins = append(s.Plugins, PluginStatus{
			Name: m.Name, Version: m.Version, Shipped: site.Plugin.Shipped, Folder: site.Plugin.Dir,
			World: string(m.World), Matches: listed(site.Matches), Tools: len(m.Tools),
		})
	}
	return s
}

func (a *API) recent(ctx context.Context) []CallStatus {
	list := []CallStatus{}
	records, err := a.Store.Recent(ctx, recentCalls)
	if err != nil {
		a.Log.Warn().Err(err).Msg("cannot read the last calls")
	}
	for _, c := range records {
		list = append(list, CallStatus{ID: c.ID, Tool: c.Tool, Client: c.Session.Client, Time: c.Dispatched,
			State: string(c.State)})
	}
	return list
}

// listed is never null in JSON.
func listed[T any](list []T) []T { return append([]T{}, list...) }

// Package doctor looks for what is wrong with a relay and everything around it: home folder, configuration, secrets,
// database, port, extension, browsers, plugins and clients. Each thing it finds has a name that never changes, a cause
// and a next step; the table of all of them is the page docs/troubleshooting.md.
//
// It works with a relay that runs and without one, and changes nothing.
package doctor

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"time"

	"tabrelay/relay/lib/called"
	"tabrelay/relay/state/config"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	OK      Severity = "ok"      // it was looked at, and is as it should be
	Warning Severity = "warning" // something works less well than it could
	Problem Severity = "problem" // something does not work
)

// Finding is one thing that was looked at.
type Finding struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	What     string   `json:"what"` // one sentence
	Why      string   `json:"why,omitempty"`
	Next     string   `json:"next,omitempty"` // the next step; empty when nothing is wrong
	Fix      string   `json:"fix,omitempty"`  // what `tabrelay doctor --fix` does about it; empty: nothing
}

// Scene is what is looked at. The parts of it that only other packages know are functions and values of the caller.
type Scene struct {
	Home    config.Home
	Version string // of this program
	Minimal bool   // TABRELAY_FORCE_MINIMAL is set

	Bundle fs.FS // the extension in this binary; nil when it was built without
	Hash   string
	// TrustedInput says that the extension has Chrome's debugger.
	TrustedInput bool
	Adapters     error // why this binary has no plugins of its own, if so

	Running bool  // a relay answers on the socket
	Silent  error // it runs, but does not say how it is
	Relay   Relay // how it says it is; only while Running and not Silent

	Known []string                                         // labels of the profiles that were connected once
	Owner func(ctx context.Context, address string) string // what answers at a port; may be nil
	// that have tabrelay in their configuration, or a broken one
	Clients []Client
	Free    func(folder string) (bytes uint64, err error)      // of the disk; nil: as the system says
	Chrome  func(ctx context.Context) (path string, err error) // a browser that can be started; may be nil

	Named     []string    // the names of the managed browsers that have one
	Died      int         // process id of a managed browser that ended by itself
	Installed []Installed // the extension in the person's browser profiles
	Hosts     []Host      // what keeps an extension from a store from finding the relay
}

// Installed is the extension as one browser profile has noted it.
type Installed struct {
	Browser, Profile, Folder string
	Off                      bool // it is switched off
}

// Host is what is wrong with how a browser finds the relay for an extension from a store.
type Host struct{ Browser, Fault, Why string }

// Relay is what a running relay says of itself.
type Relay struct {
	Version, Address, Folder, Hash string
	Demo                           string // URL of the demo site; empty: it is off
	Uptime                         time.Duration
	Browsers                       []Browser
	Trouble                        Trouble // why no browser is connected
	Problems                       []Complaint
	Plugins, Tools                 int
	Waiting                        []string // plugins that wait for a review
	Paused                         bool     // the person has stopped all agents
	Unreviewed                     bool     // plugins run without one
	Refused, RefusedNext           string   // a configuration that was not taken over, and the next step
	// what of the configuration waits for the person; what the last start brought
	Unapplied, Widened, Lost, Narrowed string
	Restart                            []string // keys that wait for a restart
	Corrupt                            map[string]int
	Lacks                              []Lack // what keeps capabilities from working
}

// Lack is a finding that the relay itself has made.
type Lack struct {
	ID   string `json:"finding"` // of the table
	What string `json:"what"`    // one sentence
}

// Browser is one browser profile.
type Browser struct {
	Label, Chrome, Extension string
	Connected, UpToDate      bool
	Tabs                     int
	Store                    bool     // its extension is the edition from a store
	Managed                  bool     // a policy of the browser installed it
	Waiting                  []string // plugins that it does not run before the person allows user scripts
}

// Trouble is why no browser is connected; Code is one of docs/errors.md, empty when one is.
type Trouble struct{ Code, Message, Next string }

// Complaint is what a relay says about a plugin.
type Complaint struct{ Plugin, Reason string }

// Client is an MCP client with tabrelay in its configuration.
type Client struct {
	Name, Title    string
	Err            error // why its configuration cannot be read
	Command, Token string
	Elsewhere      string // the home folder that it is connected to, when that is another one
}

// checkTime is how long one look may take.
const checkTime = 3 * time.Second

// Examine looks at everything, problems first, and within a severity in the order in which things depend on each other.
func Examine(ctx context.Context, s Scene) []Finding {
	if s.Free == nil {
		s.Free = free
	}
	e := &examination{Scene: s, ctx: ctx}
	e.within(ctx, (*examination).home)
	looks := []func(*examination){
		(*examination).disk, (*examination).configuration, (*examination).secrets, (*examination).states,
		(*examination).database, (*examination).binary, (*examination).remote, (*examination).relay,
		(*examination).demo, (*examination).folder, (*examination).hosts, (*examination).browsers,
		(*examination).plugins,
		(*examination).capabilities, (*examination).clients,
	}
	if e.shut { // what is in it cannot be looked at
		looks = []func(*examination){(*examination).binary, (*examination).relay, (*examination).browsers,
			(*examination).clients}
	}
	for _, look := range looks {
		e.within(ctx, look)
	}
	slices.SortStableFunc(e.found, func(a, b Finding) int { return cmp.Compare(rank(b.Severity), rank(a.Severity)) })
	return e.found
}

// within looks at something for as long as one look may take.
func (e *examination) within(ctx context.Context, look func(*examination)) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	e.ctx = ctx
	look(e)
}

func rank(s Severity) int { return slices.Index([]Severity{OK, Warning, Problem}, s) }

// Sound reports whether nothing that was found is a problem.
func Sound(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Problem })
}

// Unusable reports whether a configuration, or a file of the home folder, has to be repaired before a relay can start
// or takes it over.
func Unusable(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool {
		switch f.ID {
		case "home-unusable", "home-shut", "home-foreign", "policy-broken", "config-broken", "config-refused",
			"secrets-broken", "state-broken", "database-broken", "database-newer",
			"remote-broken":
			return true
		}
		return false
	})
}

// examination collects findings.
type examination struct {
	Scene
	ctx     context.Context
	config  config.Config
	missing bool // there is no home folder
	shut    bool // the home folder, or a file in it, cannot be used by this person
	usable  bool // config could be read
	pairing string
	known   func(token string) (client string, ok bool) // nil when the secrets cannot be read
	found   []Finding
}

// fine notes what is as it should be.
func (e *examination) fine(id, what string) {
	e.found = append(e.found, Finding{ID: id, Severity: OK, What: what})
}

// note notes one of the table's findings. why and next replace the table's unless they are empty.
func (e *examination) note(id, what, why, next string) {
	row, ok := lookup(id)
	if !ok {
		panic("doctor: " + id + " is not in the table")
	}
	e.found = append(e.found, Finding{ID: id, Severity: row.Severity, What: what, Why: cmp.Or(why, row.Why),
		Next: called.In(cmp.Or(next, row.Next)), Fix: Fixes[id]})
}

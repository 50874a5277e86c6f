package policy

import (
	"context"
	"encoding/json"
	"slices"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// What agents read of open tabs by URI is under the rules as if they called two tools that only read. These are no
// tools that can be called.
const (
	ReadTab     = "relay__read_tab"
	ReadConsole = "relay__read_console"
)

// ListTabs is the tool that tells which tabs are open, OpenTab the one that opens one.
const (
	ListTabs = "browser__list_tabs"
	OpenTab  = "browser__open_tab"
)

// readAccess is a reading of a tab as the policy sees it.
func readAccess(s call.Session, at *call.Target, tool string) call.Access {
	a := call.Access{
		Session: s, Tool: tool, Plugin: RelayPlugin, PluginTitle: "tabrelay", ReadOnly: true, Idempotent: true, At: at,
		Title: "Read a page", Description: "Shows the agent what the page shows.",
	}
	if tool == ReadConsole {
		a.Title = "Read a page's console"
		a.Description = "Shows the agent errors and warnings that the page wrote to its console."
	}
	return a
}

// RefuseTabs says why a client may read no tab at all by URI, nil when its scope covers that: the browser's own tools
// do the same.
func (p *Policy) RefuseTabs(s call.Session) *fault.Error {
	if scope := p.ScopeOf(s); scope == nil || scope.plugins == nil || scope.plugins["browser"] {
		return nil
	}
	name := fault.Excerpt(s.Client)
	return fault.New(fault.PermissionDenied,
		"Open tabs are outside the scope of the client "+name+": it may only use some plugins",
		fault.WithHint("Do not look for a way around it; the person can add browser to its plugins with "+
			"`tabrelay clients scope "+name+"`."))
}

// ShowsTab reports whether a tab is to be listed for a client.
func (p *Policy) ShowsTab(s call.Session, at call.Target) bool {
	return p.Visible(readAccess(s, &at, ReadTab))
}

// HidesTab reports whether a client is told nothing of a tab: its site is off for it, or it shows a page that the
// configuration keeps from agents.
func (p *Policy) HidesTab(s call.Session, at call.Target) bool {
	return !p.Readable(at.URL) || !p.Visible(listAccess(s, &at))
}

// Readable reports whether the configuration lets agents see a page, wherever rules say nothing about it.
func (p *Policy) Readable(address string) bool {
	tabs := p.Config().Tabs
	if known := p.pages.Load(); known == nil || !known.of(tabs.URLPatterns, tabs.ExcludePatterns) {
		p.pages.Store(newPages(tabs.URLPatterns, tabs.ExcludePatterns))
	}
	return p.pages.Load().rule.Matches(address)
}

// Bounds are which pages a tab that is opened for a client may load on its way.
type Bounds struct {
	Sites             call.Sites
	Matches, Excludes []string // what the configuration lets agents see
}

// Opening is where a tab may go that a client opens at an address of this origin, which the person has allowed.
func (p *Policy) Opening(s call.Session, origin string) Bounds {
	tabs := p.Config().Tabs
	b := Bounds{Matches: tabs.URLPatterns, Excludes: tabs.ExcludePatterns}
	b.Sites = p.Sites(openAccess(s, origin))
	if b.Sites.Of(origin) == call.SiteAsk {
		b.Sites.Origins[origin] = call.SiteOpen
	}
	return b
}

// RefuseOpening says why a client may open no tab at an origin; nil: it may, or the person is asked.
func (p *Policy) RefuseOpening(s call.Session, origin string) *fault.Error {
	_, denied := p.Allow(openAccess(s, origin))
	return denied
}

func openAccess(s call.Session, origin string) call.Access {
	return call.Access{
		Session: s, Tool: OpenTab, Plugin: "browser", Additive: true, BuiltIn: true, At: &call.Target{Origin: origin},
	}
}

// unreadable is the failure of a call that would load a page which the configuration keeps from agents.
func unreadable(a *call.Access) *fault.Error {
	return fault.New(fault.PermissionDenied, a.Tool+" may not open that page: the configuration keeps it from agents",
		append(at(a), fault.WithOutcome(fault.NotExecuted), fault.WithHint(call.UnreadableHint))...)
}

// pages are those that a configuration lets agents see.
type pages struct {
	matches, excludes []string
	rule              match.Rule
}

func newPages(matches, excludes []string) *pages {
	rule, err := match.NewRule(matches, excludes)
	if err != nil { // the configuration has checked them
		rule = match.Rule{} // none
	}
	return &pages{matches, excludes, rule}
}

func (p *pages) of(matches, excludes []string) bool {
	return slices.Equal(p.matches, matches) && slices.Equal(p.excludes, excludes)
}

// listAccess is a listing of the open tabs as the policy sees it.
func listAccess(s call.Session, at *call.Target) call.Access {
	return call.Access{
		Session: s, Tool: ListTabs, Plugin: "browser", ReadOnly: true, Idempotent: true, BuiltIn: true, At: at,
	}
}

// TellsTab reports whether the list may tell a client a tab's title and path, and not its site alone: it may read the
// tab, or list the tabs, without the person being asked (again).
func (p *Policy) TellsTab(s call.Session, at call.Target) bool {
	for _, a := range []call.Access{readAccess(s, &at, ReadTab), listAccess(s, nil)} {
		if says, failure := p.Allow(a); !says.Ask && failure == nil {
			return true
		}
	}
	return false
}

// TabSites is whose documents a client may read in a tab that it may read: what the person allowed of this tab alone,
// and once, is its own site.
func (p *Policy) TabSites(s call.Session, at call.Target) call.Sites {
	sites := p.Sites(readAccess(s, &at, ReadTab))
	sites.Origins[at.Origin] = call.SiteOpen
	return sites
}

// ReadTab waits until a client may read a URI of a tab, with one of the tools above. id is that of the reading; client
// asks through the caller, nil when that cannot.
func (p *Policy) ReadTab(
	ctx context.Context, id call.ID, s call.Session, at call.Target, tool, uri string,
	client func(context.Context, call.Question) (call.Answer, error),
) *fault.Error {
	a := readAccess(s, &at, tool)
	a.ID = id
	a.Arguments, _ = json.Marshal(map[string]string{"uri": uri}) // strings always encode
	says, failure := p.Allow(a)
	if failure == nil && says.Ask {
		_, failure = p.Ask(ctx, a, client, nil)
	}
	return failure
}

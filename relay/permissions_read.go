package relay

import (
	"context"
	"encoding/json"
	"tabrelay/relay/builtin"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/policy"
	"tabrelay/relay/resource"
)

// tabPermits puts what agents read of open tabs by URI under the rules, as if it were called with two tools that only
// read: relay__read_tab and relay__read_console.
type tabPermits struct{ policy *policy.Policy }

// readingOf is one reading as the rules see it.
func readingOf(s call.Session, tab resource.Tab, kind, uri string) call.Access {
	arguments, _ := json.Marshal(map[string]string{"uri": uri}) // strings always encode
	a := call.Access{
		Session: s, Tool: catalog.ReadTab, Title: "Read a page", Description: "Shows the agent what the page shows.",
		Plugin: relayName, PluginTitle: "tabrelay", ReadOnly: true, Idempotent: true, Arguments: arguments,
		At: &call.Target{ProfileID: tab.ProfileID, Profile: tab.Profile, TabID: tab.ID, Origin: resource.Origin(tab.URL), URL: tab.URL, Title: tab.Title},
	}
	if kind == "console" {
		a.Tool, a.Title, a.Description = catalog.ReadConsole, "Read a page's console", "Shows the agent errors and warnings that the page wrote to its console."
	}
	return a
}

// Shows implements resource.Permits.
func (t tabPermits) Shows(s call.Session, tab resource.Tab) bool {
	return t.policy.Visible(readingOf(s, tab, "text", ""))
}

// Tells implements resource.Permits: title and path are for a client that may read the tab, or list the tabs, without the
// person being asked (again).
func (t tabPermits) Tells(s call.Session, tab resource.Tab) bool {
	for _, a := range []call.Access{
		readingOf(s, tab, "text", ""),
		{Session: s, Tool: builtin.ListTabs, Plugin: "browser", ReadOnly: true, Idempotent: true, BuiltIn: true},
	} {
		if ask, failure := t.policy.Allow(a); !ask && failure == nil {
			return true
		}
	}
	return false
}

// Read implements resource.Permits.
func (t tabPermits) Read(ctx context.Context, s call.Session, tab resource.Tab, kind, uri string) *fault.Error {
	a := readingOf(s, tab, kind, uri)
	a.ID = readingID(ctx)
	ask, failure := t.policy.Allow(a)
	if failure != nil || !ask {
		return failure
	}
	_, failure = t.policy.Ask(ctx, a, front.AskerFrom(ctx).Question(), nil)
	return failure
}

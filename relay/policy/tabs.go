package policy

import (
	"context"
	"encoding/json"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// What agents read of open tabs by URI is under the rules as if they called two tools that only read. These are no
// tools that can be called.
const (
	ReadTab     = "relay__read_tab"
	ReadConsole = "relay__read_console"
)

// ListTabs is the tool that tells which tabs are open.
const ListTabs = "browser__list_tabs"

// reading is one reading of a tab as the rules see it.
func reading(s call.Session, at *call.Target, tool string) call.Access {
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
	return p.Visible(reading(s, &at, ReadTab))
}

// TellsTab reports whether the list may tell a client a tab's title and path, and not its site alone: it may read the
// tab, or list the tabs, without the person being asked (again).
func (p *Policy) TellsTab(s call.Session, at call.Target) bool {
	list := call.Access{Session: s, Tool: ListTabs, Plugin: "browser", ReadOnly: true, Idempotent: true, BuiltIn: true}
	for _, a := range []call.Access{reading(s, &at, ReadTab), list} {
		if says, failure := p.Allow(a); !says.Ask && failure == nil {
			return true
		}
	}
	return false
}

// ReadTab waits until a client may read a URI of a tab, with one of the tools above. id is that of the reading; client
// asks through the caller, nil when that cannot.
func (p *Policy) ReadTab(
	ctx context.Context, id call.ID, s call.Session, at call.Target, tool, uri string,
	client func(context.Context, call.Question) (call.Answer, error),
) *fault.Error {
	a := reading(s, &at, tool)
	a.ID = id
	a.Arguments, _ = json.Marshal(map[string]string{"uri": uri}) // strings always encode
	says, failure := p.Allow(a)
	if failure == nil && says.Ask {
		_, failure = p.Ask(ctx, a, client, nil)
	}
	return failure
}

package resources

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

// tools are under which names the rules are about tabs that are read by URI, by scheme.
var tools = map[string]string{"tab": policy.ReadTab, "console": policy.ReadConsole}

// ofTabs reports whether a resource shows what is in an open tab.
func ofTabs(uri string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(uri), ":")
	return tools[scheme] != ""
}

// refuse says why a client may not read anything of a scheme, nil when it may.
func (s *Set) refuse(session call.Session, scheme string) *fault.Error {
	if session.Bounds != nil { // what it reads is counted, and bounded, as calls of tools
		return fault.New(fault.PermissionDenied, "An agent that acts for a client may use tools, and no resources",
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Use a tool that reads the page."))
	}
	if s.policy == nil || tools[scheme] == "" {
		return nil
	}
	return s.policy.RefuseTabs(session)
}

func target(t hub.Tab) call.Target {
	return call.Target{
		ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, Origin: Origin(t.URL), URL: t.URL, Title: t.Title,
	}
}

// permit finds the tab that a URI names once the client may read it. The tab is looked at again after that: what was
// allowed of one origin is not read of another. page reports whether a page that was read is of that origin.
func (t *tabs) permit(
	ctx context.Context, r reading, u *url.URL,
) (tab hub.Tab, page func(address string) bool, failure *fault.Error) {
	page = func(address string) bool { return t.mayRead(address) }
	tab, failure = t.awake(u)
	if failure != nil || t.policy == nil {
		return tab, page, failure
	}
	origin := Origin(tab.URL)
	failure = t.policy.ReadTab(ctx, r.id, r.session, target(tab), tools[u.Scheme], u.String(), r.ask)
	if failure != nil {
		if failure.Code == fault.TabNotFound {
			failure = closed(tab)
		}
		return tab, page, failure
	}
	if tab, failure = t.awake(u); failure == nil && Origin(tab.URL) != origin {
		failure = otherPage(tab)
	}
	return tab, func(address string) bool { return t.mayRead(address) && Origin(address) == origin }, failure
}

// readAny is what reading by URI is called in the audit log where it is no tab that is read.
const readAny = "resources/read"

// audited reads, and writes that down.
func (s *Set) audited(
	ctx context.Context, r reading, uri string,
) (contents []call.ResourceContents, failure *fault.Error) {
	began := time.Now()
	contents, failure = s.read(ctx, r, uri)
	if s.audit == nil {
		return contents, failure
	}
	scheme, _, _ := strings.Cut(strings.ToLower(uri), ":")
	e := call.Entry{
		Kind: call.EntryCall, Session: r.session, Tool: cmp.Or(tools[scheme], readAny), Plugin: policy.RelayPlugin,
		Outcome: "returned", Duration: time.Since(began), CallID: r.id,
	}
	e.Arguments, _ = json.Marshal(map[string]string{"uri": uri}) // strings always encode
	if u, err := url.Parse(uri); err == nil && ofTabs(uri) {
		e.TabID, _ = strconv.Atoi(u.Host) // 0: it is none
	}
	if len(contents) > 0 {
		var meta struct {
			Origin string `json:"tabrelay/origin"`
		}
		if json.Unmarshal(contents[0].Meta, &meta) == nil {
			e.Origin = meta.Origin
		}
	}
	if failure != nil {
		e.Outcome, e.Code, e.Detail = string(call.NotExecuted), string(failure.Code), failure.Message
	}
	s.audit(e)
	return contents, failure
}

// Origin is the origin of an address with a host, else the address itself.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

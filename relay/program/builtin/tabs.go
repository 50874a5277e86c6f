package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
)

// Tabs lists and opens tabs.
type Tabs struct {
	hub    *hub.Hub
	policy *policy.Policy // nil: the person lists and opens them
}

// TabsOf are the tabs of these browsers, for the person.
func TabsOf(h *hub.Hub) Tabs { return Tabs{hub: h} }

// tabs are the tabs for agents.
func (s *Sources) tabs() Tabs { return Tabs{s.Hub, s.Policy} }

func (s *Sources) listTabsTool() registry.Tool {
	return registry.Tool{
		Name: policy.ListTabs,
		Spec: plugin.Tool{
			Name: "list_tabs", DisplayName: "List tabs",
			Description: "The open tabs of web pages. owner is the agent that works in a tab: others cannot change " +
				"anything there (TAB_OWNED). hidden counts tabs that you may not see.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"profile":{"type":"string"}},` +
				`"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		Run: fromPages(answering(func(ctx context.Context, c call.Call, f tabFilter) (tabList, *fault.Error) {
			return s.tabs().list(ctx, c, f)
		})),
	}
}

func (s *Sources) openTabTool() registry.Tool {
	return registry.Tool{
		Name: policy.OpenTab, AddressArgument: "url",
		Spec: plugin.Tool{
			Name: "open_tab", DisplayName: "Open a tab",
			Description: "Opens a web page in a new tab, in the background, and returns its address and state. " +
				"The tab is yours: your next calls without tabId go there.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"active":` +
				`{"type":"boolean","description":"Bring it to the front."},"profile":` +
				`{"type":"string","description":"Browser profile, when several are connected."}},` +
				`"required":["url"],"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &no, DestructiveHint: &no, OpenWorldHint: &yes},
		},
		Run: answering(func(ctx context.Context, c call.Call, n NewTab) (OpenedTab, *fault.Error) {
			return s.tabs().Open(ctx, c, n)
		}),
	}
}

type tabFilter struct {
	Profile string `json:"profile"`
}

// tabList is what browser__list_tabs answers.
type tabList struct {
	Tabs   []openTab `json:"tabs"`
	Hidden int       `json:"hidden,omitempty"` // how many others there are, of which the agent may see nothing
}

type openTab struct {
	TabID     int    `json:"tabId"`
	Profile   string `json:"profile"`
	ProfileID string `json:"profileId,omitempty"` // where the label alone does not tell
	URL       string `json:"url"`
	Title     string `json:"title"`
	Active    bool   `json:"active"`
	Focused   bool   `json:"focused"`
	Owner     string `json:"owner,omitempty"` // the agent that works there
	Yours     bool   `json:"yours,omitempty"` // that is the one that asks
}

func (t Tabs) list(_ context.Context, c call.Call, f tabFilter) (tabList, *fault.Error) {
	if failure := t.hub.Trouble(); failure != nil {
		return tabList{}, failure // a list without tabs would say that the person has none open
	}
	profiles := connected(t.hub)
	if f.Profile != "" && !slices.ContainsFunc(profiles, func(b hub.Browser) bool {
		return b.Label == f.Profile ||
			b.ProfileID == f.Profile
	}) {
		return tabList{}, fault.New(fault.ProfileNotConnected, "The browser profile "+fault.Excerpt(f.Profile)+
			" is not connected")
	}
	count := map[string]int{}
	for _, b := range profiles {
		count[b.Label]++
	}
	list, byProfile := tabList{Tabs: []openTab{}}, map[string][]int{}
	for _, tab := range t.hub.Tabs() {
		if f.Profile != "" && f.Profile != tab.Profile && f.Profile != tab.ProfileID ||
			hub.RefuseTab(c.Session, tab.ID, tab.URL) != nil {
			continue
		}
		if t.hides(c.Session, tab) {
			list.Hidden++
			continue
		}
		open := openTab{TabID: tab.ID, Profile: tab.Profile, URL: tab.URL, Title: tab.Title, Active: tab.Active,
			Focused: tab.Focused}
		if count[tab.Profile] > 1 {
			open.ProfileID = tab.ProfileID
		}
		if tab.Owner != nil {
			open.Owner, open.Yours = tab.Owner.Name, tab.Owner.Session == c.Session.ID
		}
		list.Tabs = append(list.Tabs, open)
		byProfile[tab.ProfileID] = append(byProfile[tab.ProfileID], tab.ID)
	}
	for profile, tabs := range byProfile {
		t.hub.FollowPageTools(profile, tabs)
	}
	return list, nil
}

// hides reports whether nothing is told of a tab.
func (t Tabs) hides(s call.Session, tab hub.Tab) bool {
	return t.policy != nil && t.policy.HidesTab(s, call.Target{
		ProfileID: tab.ProfileID, TabID: tab.ID, Origin: tab.Origin(), URL: tab.URL,
	})
}

// connected are the profiles that are connected.
func connected(h *hub.Hub) []hub.Browser {
	return slices.DeleteFunc(slices.Clone(h.Browsers()), func(b hub.Browser) bool { return !b.Connected })
}

// NewTab is what browser__open_tab is told, and the body of POST /api/v1/tabs.
type NewTab struct {
	URL     string `json:"url"`
	Active  bool   `json:"active,omitempty"`
	Profile string `json:"profile,omitempty"`
}

// OpenedTab is what they answer.
type OpenedTab struct {
	TabID      int    `json:"tabId"`
	WindowID   int    `json:"windowId"`
	Profile    string `json:"profile,omitempty"`
	URL        string `json:"url"` // where it ended up; while it has no page yet, what was asked for
	Title      string `json:"title"`
	Status     string `json:"status"`               // complete or loading
	HTTPStatus int    `json:"httpStatus,omitempty"` // when the browser lets it be seen
	Note       string `json:"note,omitempty"`       // why not all is told
}

// created is what a browser answers to tabs.create.
type created struct {
	TabID      int    `json:"tabId"`
	WindowID   int    `json:"windowId"`
	Status     string `json:"status"`
	Begun      bool   `json:"begun"` // the tab shows its page
	HTTPStatus int    `json:"httpStatus"`

	Stopped string `json:"stopped"` // at this origin, which is off; the tab is closed again
	Before  bool   `json:"before"`  // with that: before anything was asked for
}

// Open opens a page in the profile that is named, or where the session works, or in the only one; which of several
// else is not guessed. The person goes on looking at what they look at, unless the call asks for more.
func (t Tabs) Open(ctx context.Context, c call.Call, n NewTab) (answer OpenedTab, failure *fault.Error) {
	origin, err := match.Origin(n.URL)
	if err != nil {
		return answer, fault.New(fault.ValidationError, "url is refused: "+err.Error())
	}
	if origin == "" {
		return answer, fault.New(fault.ValidationError, "url is not an http or https address",
			fault.WithHint("Pass a complete address, for example https://example.com/."))
	}
	if failure = hub.RefuseTab(c.Session, 0, n.URL); failure != nil {
		return answer, failure
	}
	profile, failure := t.profileFor(c.Session.ID, n.Profile)
	if failure != nil {
		return answer, failure
	}
	params := map[string]any{"url": n.URL, "active": n.Active}
	var sites *call.Sites
	if t.policy != nil {
		bounds := t.policy.Opening(c.Session, origin)
		sites = &bounds.Sites
		params["sites"], params["matches"], params["excludes"] = sites, bounds.Matches, bounds.Excludes
	}
	raw, failure := t.hub.Command(ctx, profile, "tabs.create", params)
	if failure != nil {
		return answer, notLoaded(origin, failure)
	}
	var made created
	if err := json.Unmarshal(raw, &made); err != nil {
		return answer, fault.New(fault.InternalError, "The browser's answer cannot be read", fault.WithCause(err))
	}
	if made.Stopped != "" {
		failure := stoppedAt(origin, made)
		if t.policy != nil {
			if denied := t.policy.RefuseOpening(c.Session, made.Stopped); denied != nil {
				failure.Hint = denied.Message + ". " + denied.Hint // whose rule it is says who can change it
			}
		}
		return answer, failure
	}
	answer = OpenedTab{
		TabID: made.TabID, WindowID: made.WindowID, URL: n.URL, Status: cmp.Or(made.Status, "loading"),
		HTTPStatus: made.HTTPStatus,
	}
	for _, tab := range t.hub.Tabs() {
		if tab.ID == made.TabID && (profile == "" || tab.ProfileID == profile || tab.Profile == profile) {
			answer.Profile = tab.Profile
			if hub.RefuseTab(c.Session, tab.ID, tab.URL) == nil { // else it was redirected out of the bounds
				t.describe(&answer, tab, sites)
			}
			t.hub.Opened(c.Session, tab.ProfileID, tab.Profile, tab.ID, tab.URL, false)
			t.hub.FollowPageTools(tab.ProfileID, []int{tab.ID})
			return answer, nil
		}
	}
	for _, b := range connected(t.hub) {
		if profile == "" || b.ProfileID == profile || b.Label == profile {
			answer.Profile = b.Label
			t.hub.Opened(c.Session, b.ProfileID, b.Label, made.TabID, n.URL, true)
			t.hub.FollowPageTools(b.ProfileID, []int{made.TabID})
			break
		}
	}
	return answer, nil
}

// describe says where a tab ended up, as far as that may be told.
func (t Tabs) describe(answer *OpenedTab, tab hub.Tab, sites *call.Sites) {
	answer.URL, answer.Title = tab.URL, tab.Title
	if sites == nil {
		return
	}
	state := sites.Of(tab.Origin())
	if !t.policy.Readable(tab.URL) {
		state = call.SiteOff
	}
	switch state {
	case call.SiteOff:
		answer.URL, answer.Title = tab.Origin(), ""
		answer.Note = "It leads to a site that is off: no more is said about it, and no tool runs there"
	case call.SiteAsk:
		answer.URL, _, _ = strings.Cut(tab.URL, "?")
		answer.URL, _, _ = strings.Cut(answer.URL, "#")
		answer.Note = "It leads to another site than was asked for. Look at it with browser__snapshot: the person is " +
			"asked then"
	}
}

// stoppedAt is the failure of an address that leads to a site which is off, or to a page that the configuration keeps
// from agents.
func stoppedAt(origin string, made created) *fault.Error {
	message, outcome := "Stopped at "+made.Stopped+", which is off", fault.NotExecuted
	if !made.Before {
		message, outcome = message+": "+origin+" leads there. Nothing was sent to it, and the tab is "+
			"closed again", fault.Executed
	}
	return fault.New(fault.PermissionDenied, message, fault.WithOutcome(outcome), fault.WithHint(call.UnreadableHint))
}

// notLoaded says why an address does not load, in more than Chrome's own word for it.
func notLoaded(origin string, f *fault.Error) *fault.Error {
	if f.Code != fault.PageNotLoaded {
		return f
	}
	reason := f.Message
	message := origin + " does not load: " + reason
	if plain, known := netErrors[reason]; known {
		message += ", " + plain
	}
	if reason == aborted { // the address was asked for, and a download would come twice
		return fault.New(fault.PageNotLoaded, message, fault.WithTab(0, f.Profile),
			fault.WithOutcome(fault.Executed), fault.WithRetryable(false),
			fault.WithHint("Check whether it is among the downloads before opening it again."))
	}
	return fault.New(fault.PageNotLoaded, message, fault.WithTab(0, f.Profile))
}

const aborted = "net::ERR_ABORTED"

// netErrors explains the reasons that are common (net/base/net_error_list.h of Chromium has all).
var netErrors = map[string]string{
	"net::ERR_NAME_NOT_RESOLVED":          "the name of the server is not known",
	"net::ERR_CONNECTION_REFUSED":         "nothing answers at that port",
	"net::ERR_CONNECTION_TIMED_OUT":       "nothing answers there",
	"net::ERR_CONNECTION_RESET":           "the server ended the connection",
	"net::ERR_CONNECTION_CLOSED":          "the server ended the connection",
	"net::ERR_EMPTY_RESPONSE":             "the server sent nothing",
	"net::ERR_ADDRESS_UNREACHABLE":        "the network does not lead there",
	"net::ERR_INTERNET_DISCONNECTED":      "this computer is not connected to the internet",
	"net::ERR_TOO_MANY_REDIRECTS":         "it redirects in a loop",
	aborted:                               "it leads to no page, but to a download or an empty answer",
	"net::ERR_HTTP_RESPONSE_CODE_FAILURE": "the server answered with an error and no page",
	"net::ERR_UNSAFE_PORT":                "the browser opens no connection to that port",
	"net::ERR_SSL_PROTOCOL_ERROR":         "the server does not speak HTTPS there",
	"net::ERR_CERT_AUTHORITY_INVALID":     "its certificate is not trusted",
	"net::ERR_CERT_COMMON_NAME_INVALID":   "its certificate is for another name",
	"net::ERR_CERT_DATE_INVALID":          "its certificate is not valid now",
	"net::ERR_BLOCKED_BY_CLIENT":          "another extension blocks it",
	"net::ERR_BLOCKED_BY_ADMINISTRATOR":   "the administrator blocks it",
}

// profileFor is the profile that a session means: the one it names, the one it worked in last, or the only one.
func (t Tabs) profileFor(session, named string) (profile string, failure *fault.Error) {
	if named != "" {
		return named, nil
	}
	if last := t.hub.ProfileOf(session); last != "" {
		return last, nil
	}
	here := connected(t.hub)
	switch len(here) {
	case 0:
		return "", nil // one may be on its way
	case 1:
		return here[0].ProfileID, nil
	}
	names := make([]string, len(here))
	for i, b := range here {
		names[i] = fmt.Sprintf("%q (%s)", b.ProfileID, b.Label)
	}
	return "", fault.New(fault.ValidationError, fmt.Sprintf("%d browser profiles are connected", len(here)),
		fault.WithHint("Pass the one you mean as `profile`, by its name or id: "+strings.Join(names, ", ")+"."))
}

package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/hub"
	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
)

func (r *Relay) listTabsTool() registry.Tool {
	return registry.Tool{
		Name: listTabs,
		Spec: plugin.Tool{
			Name: "list_tabs", DisplayName: "List tabs",
			Description: "The tabs of web pages that are open in the connected browser profiles. owner is the agent that works in a tab: others get TAB_OWNED for calls that change something there.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"profile":{"type":"string","description":"Only tabs of this browser profile."}},"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		Run: fromPages(withCall(r.listTabs)),
	}
}

func (r *Relay) openTabTool() registry.Tool {
	return registry.Tool{
		Name: "browser__open_tab",
		Spec: plugin.Tool{
			Name: "open_tab", DisplayName: "Open a tab",
			Description: "Opens a web page in a new tab, in the background. Answers its tab id, final address, title, whether it is still loading and its HTTP status, where known. An address that does not load fails with PAGE_NOT_LOADED. The tab belongs to the agent that opened it, and its next calls without tabId go there.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string","description":"An http or https URL."},"active":{"type":"boolean","description":"Whether the tab comes to the front, in place of what the person looks at. Default: false."},"profile":{"type":"string","description":"Browser profile to open it in. Default: the one used before. Needed when several are connected."}},"required":["url"],"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &no, DestructiveHint: &no, OpenWorldHint: &yes},
		},
		Run: withCall(r.openTab),
	}
}

// withCall makes a built-in tool of a function that wants to know who asks.
func withCall[A, B any](do func(context.Context, call.Call, A) (B, *fault.Error)) func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) {
	return func(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
		return builtin(func(ctx context.Context, args A) (B, *fault.Error) { return do(ctx, c, args) })(ctx, c, raw)
	}
}

type tabFilter struct {
	Profile string `json:"profile"`
}

// tabList is what browser__list_tabs answers.
type tabList struct {
	Tabs []openTab `json:"tabs"`
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

func (r *Relay) listTabs(_ context.Context, c call.Call, f tabFilter) (tabList, *fault.Error) {
	profiles := present(r.hub.Browsers())
	if f.Profile != "" && !slices.ContainsFunc(profiles, func(b hub.Browser) bool { return b.Label == f.Profile || b.ProfileID == f.Profile }) {
		return tabList{}, fault.New(fault.ProfileNotConnected, "The browser profile "+excerpt(f.Profile)+" is not connected")
	}
	count := map[string]int{}
	for _, b := range profiles {
		count[b.Label]++
	}
	list := tabList{Tabs: []openTab{}}
	for _, t := range r.hub.Tabs() {
		if f.Profile != "" && f.Profile != t.Profile && f.Profile != t.ProfileID {
			continue
		}
		open := openTab{TabID: t.ID, Profile: t.Profile, URL: t.URL, Title: t.Title, Active: t.Active, Focused: t.Focused}
		if count[t.Profile] > 1 {
			open.ProfileID = t.ProfileID
		}
		if t.Owner != nil {
			open.Owner, open.Yours = t.Owner.Name, t.Owner.Session == c.Session.ID
		}
		list.Tabs = append(list.Tabs, open)
	}
	return list, nil
}

// present keeps the profiles that are connected.
func present(all []hub.Browser) []hub.Browser {
	return slices.DeleteFunc(slices.Clone(all), func(b hub.Browser) bool { return !b.Connected })
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
}

// created is what a browser answers to tabs.create.
type created struct {
	TabID      int    `json:"tabId"`
	WindowID   int    `json:"windowId"`
	Status     string `json:"status"`
	Begun      bool   `json:"begun"` // the tab shows its page
	HTTPStatus int    `json:"httpStatus"`
}

// openTab opens a page in the profile that is named, or where the session works, or in the only one; which of several
// else is not guessed. The person goes on looking at what they look at, unless the call asks for more.
func (r *Relay) openTab(ctx context.Context, c call.Call, t NewTab) (answer OpenedTab, failure *fault.Error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return answer, fault.New(fault.ValidationError, "url is not an http or https URL", fault.WithHint("Pass a complete URL, for example https://example.com/."))
	}
	profile, failure := r.profileFor(c.Session.ID, t.Profile)
	if failure != nil {
		return answer, failure
	}
	raw, failure := r.hub.Command(ctx, profile, "tabs.create", map[string]any{"url": t.URL, "active": t.Active})
	if failure != nil {
		return answer, notLoaded(u, failure)
	}
	var made created
	if err := json.Unmarshal(raw, &made); err != nil {
		return answer, fault.New(fault.InternalError, "The browser's answer cannot be read", fault.WithCause(err))
	}
	answer = OpenedTab{
		TabID: made.TabID, WindowID: made.WindowID, URL: t.URL, Status: cmp.Or(made.Status, "loading"), HTTPStatus: made.HTTPStatus,
	}
	for _, tab := range r.hub.Tabs() {
		if tab.ID == made.TabID && (profile == "" || tab.ProfileID == profile || tab.Profile == profile) {
			answer.Profile, answer.URL, answer.Title = tab.Profile, tab.URL, tab.Title
			r.hub.Opened(c.Session, tab.ProfileID, tab.Profile, tab.ID, tab.URL, false)
			return answer, nil
		}
	}
	for _, b := range present(r.hub.Browsers()) {
		if profile == "" || b.ProfileID == profile || b.Label == profile {
			answer.Profile = b.Label
			r.hub.Opened(c.Session, b.ProfileID, b.Label, made.TabID, t.URL, true)
			break
		}
	}
	return answer, nil
}

// notLoaded says why an address does not load, in more than Chrome's own word for it.
func notLoaded(u *url.URL, f *fault.Error) *fault.Error {
	if f.Code != fault.PageNotLoaded {
		return f
	}
	reason := f.Message
	message := u.Scheme + "://" + u.Host + " does not load: " + reason
	if plain, known := netErrors[reason]; known {
		message += ", " + plain
	}
	return fault.New(fault.PageNotLoaded, message, fault.WithTab(0, f.Profile))
}

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
	"net::ERR_TOO_MANY_REDIRECTS":         "it is redirected in a circle",
	"net::ERR_ABORTED":                    "it leads to no page, but to a download or an empty answer",
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
func (r *Relay) profileFor(session, named string) (profile string, failure *fault.Error) {
	if named != "" {
		return named, nil
	}
	if last := r.hub.ProfileOf(session); last != "" {
		return last, nil
	}
	here := present(r.hub.Browsers())
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
		fault.WithHint("Pass the one that is meant as `profile`, its name or its id: "+strings.Join(names, ", ")+"."))
}

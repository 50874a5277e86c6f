package relay

import (
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
			Description: "Opens a web page in a new tab, in the background, and returns its tab id. The page may still be loading then. The tab belongs to the agent that opened it.",
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
			open.Owner, open.Yours = t.Owner.Name, t.Owner.Lane == c.Session.Lane
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
	TabID    int    `json:"tabId"`
	WindowID int    `json:"windowId"`
	Profile  string `json:"profile,omitempty"`
}

// openTab opens a page in the profile that is named, or where the lane works, or in the only one; which of several
// else is not guessed. The person goes on looking at what they look at, unless the call asks for more.
func (r *Relay) openTab(ctx context.Context, c call.Call, t NewTab) (answer OpenedTab, failure *fault.Error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return answer, fault.New(fault.ValidationError, "url is not an http or https URL", fault.WithHint("Pass a complete URL, for example https://example.com/."))
	}
	profile, failure := r.profileFor(c.Session.Lane, t.Profile)
	if failure != nil {
		return answer, failure
	}
	raw, failure := r.hub.Command(ctx, profile, "tabs.create", map[string]any{"url": t.URL, "active": t.Active})
	if failure != nil {
		return answer, failure
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, fault.New(fault.InternalError, "The browser's answer cannot be read", fault.WithCause(err))
	}
	for _, tab := range r.hub.Tabs() {
		if tab.ID == answer.TabID && (profile == "" || tab.ProfileID == profile || tab.Profile == profile) {
			answer.Profile = tab.Profile
			r.hub.Give(c.Session, tab.ProfileID, tab.ID)
			break
		}
	}
	return answer, nil
}

// profileFor is the profile that a lane means: the one it names, the one it worked in last, or the only one.
func (r *Relay) profileFor(lane, named string) (profile string, failure *fault.Error) {
	if named != "" {
		return named, nil
	}
	if last := r.hub.ProfileOf(lane); last != "" {
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

package relay

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/hub"
	"tabrelay/relay/metrics"
	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
)

var yes, no = true, false

// builtins are the tools that need no page.
func (r *Relay) builtins() []registry.Tool {
	return []registry.Tool{
		{
			Name: "bridge_health", Unqueued: true,
			Spec: plugin.Tool{
				Name: "bridge_health", DisplayName: "Bridge health",
				Description: "Whether the relay works and which browsers are connected. Call it first, and after failures of the connection.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
				Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
			},
			Run: builtin(r.health),
		},
		{
			Name: "browser__list_tabs",
			Spec: plugin.Tool{
				Name: "list_tabs", DisplayName: "List tabs",
				Description: "The tabs of web pages that are open in the connected browser profiles.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"profile":{"type":"string","description":"Only tabs of this browser profile."}},"additionalProperties":false}`),
				Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
			},
			Run: builtin(r.listTabs),
		},
		{
			Name: "browser__open_tab",
			Spec: plugin.Tool{
				Name: "open_tab", DisplayName: "Open a tab",
				Description: "Opens a web page in a new tab and returns its tab id. The page may still be loading then.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string","description":"An http or https URL."},"active":{"type":"boolean","description":"Whether the tab comes to the front. Default: true."},"profile":{"type":"string","description":"Browser profile to open it in. Needed when several are connected."}},"required":["url"],"additionalProperties":false}`),
				Annotations: plugin.Annotations{ReadOnlyHint: &no, DestructiveHint: &no, OpenWorldHint: &yes},
			},
			Run: builtin(r.openTab),
		},
	}
}

// builtin makes a tool of a function from its arguments to its answer.
func builtin[A, B any](do func(context.Context, A) (B, *fault.Error)) func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) {
	return func(ctx context.Context, _ call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
			}
		}
		answer, failure := do(ctx, args)
		if failure != nil {
			return nil, failure
		}
		output, err := json.Marshal(answer)
		if err != nil {
			return nil, fault.New(fault.InternalError, "The answer cannot be encoded", fault.WithCause(err))
		}
		return &call.Result{Output: output}, nil
	}
}

// health is what bridge_health answers. healthy, agents, sessions and uptime are what clients of mcp-agentic read.
type health struct {
	Healthy   bool             `json:"healthy"`
	Agents    map[string]int   `json:"agents"`
	Sessions  map[string]int   `json:"sessions"`
	Uptime    int64            `json:"uptime"` // milliseconds
	Extension extensionHealth  `json:"extension"`
	Tabs      map[string]int   `json:"tabs"`
	LastFatal *Notice          `json:"lastFatal,omitempty"`
	Trouble   string           `json:"trouble,omitempty"` // why no browser is connected
	Next      string           `json:"next,omitempty"`
	Problems  []registryReason `json:"problems,omitempty"`
}

type extensionHealth struct {
	Connected bool     `json:"connected"`
	Version   string   `json:"version,omitempty"`
	Browsers  []string `json:"browsers"` // labels of the profiles
}

type registryReason struct {
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason"`
}

func (r *Relay) health(context.Context, struct{}) (health, *fault.Error) {
	h := health{
		Agents: map[string]int{"total": 0, "ready": 0}, Sessions: map[string]int{"active": 0, "capacity": 0},
		Uptime: time.Since(r.began).Milliseconds(), Extension: extensionHealth{Browsers: []string{}}, Tabs: map[string]int{"total": len(r.hub.Tabs())},
	}
	for _, b := range r.hub.Browsers() {
		if !b.Connected {
			continue
		}
		h.Extension.Connected, h.Extension.Version = true, b.Extension
		h.Extension.Browsers = append(h.Extension.Browsers, b.Label)
	}
	h.Healthy = h.Extension.Connected
	if trouble := r.hub.Trouble(); trouble != nil {
		h.Trouble, h.Next = trouble.Message, trouble.Hint
	}
	for _, n := range r.notices.all() {
		if n.Kind == string(hub.Refused) {
			h.LastFatal = &n
		}
	}
	for _, p := range r.problems(r.tools.Snapshot()) {
		h.Problems = append(h.Problems, registryReason{p.Plugin, p.Reason})
	}
	return h, nil
}

type tabFilter struct {
	Profile string `json:"profile"`
}

// tabList is what browser__list_tabs answers.
type tabList struct {
	Tabs []openTab `json:"tabs"`
}

type openTab struct {
	TabID   int    `json:"tabId"`
	Profile string `json:"profile"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	Active  bool   `json:"active"`
	Focused bool   `json:"focused"`
}

func (r *Relay) listTabs(_ context.Context, f tabFilter) (tabList, *fault.Error) {
	if f.Profile != "" && !slices.ContainsFunc(r.hub.Browsers(), func(b hub.Browser) bool {
		return b.Connected && (b.Label == f.Profile || b.ProfileID == f.Profile)
	}) {
		return tabList{}, fault.New(fault.ProfileNotConnected, "The browser profile "+excerpt(f.Profile)+" is not connected")
	}
	list := tabList{Tabs: []openTab{}}
	for _, t := range r.hub.Tabs() {
		if f.Profile == "" || f.Profile == t.Profile || f.Profile == t.ProfileID {
			list.Tabs = append(list.Tabs, openTab{TabID: t.ID, Profile: t.Profile, URL: t.URL, Title: t.Title, Active: t.Active, Focused: t.Focused})
		}
	}
	return list, nil
}

// newTab is what browser__open_tab is told.
type newTab struct {
	URL     string `json:"url"`
	Active  *bool  `json:"active"`
	Profile string `json:"profile"`
}

func (r *Relay) openTab(ctx context.Context, t newTab) (json.RawMessage, *fault.Error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.New(fault.ValidationError, "url is not an http or https URL", fault.WithHint("Pass a complete URL, for example https://example.com/."))
	}
	return r.hub.Command(ctx, t.Profile, "tabs.create", map[string]any{"url": t.URL, "active": t.Active == nil || *t.Active})
}

// linkMeter counts what the hub sees.
type linkMeter struct{ *metrics.Metrics }

// LateAnswer counts an outcome that nobody waited for.
func (m linkMeter) LateAnswer() { m.LateOutcome() }

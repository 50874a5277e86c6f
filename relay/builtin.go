package relay

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

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
		r.healthTool(), r.doctorTool(), r.readResultTool(), r.deadLettersTool(),
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

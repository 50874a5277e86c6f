package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

func completing(t *testing.T) *Completer {
	t.Helper()
	many := make([]string, 0, 250)
	for i := range 250 {
		many = append(many, fmt.Sprintf("value %03d", i))
	}
	tools := registry.New(nil)
	wiki := plugin.Plugin{Manifest: plugin.Manifest{
		Name: "wiki", DisplayName: "The wiki", URLPatterns: []string{"https://wiki.example/*"}, World: plugin.Isolated,
		Tools: []plugin.Tool{{Name: "read_page", DisplayName: "Read a page", Description: "Reads.",
			InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Prompts: []plugin.Prompt{{Name: "sum", Description: "Sums.", Template: "x", Arguments: []plugin.PromptArgument{
			{Name: "length", Complete: []string{"One sentence", "one page", "Five pages", "one page"}},
			{Name: "many", Complete: many},
			{Name: "tab", From: "tabs"}, {Name: "profile", From: "profiles"}, {Name: "tool", From: "tools"},
			{Name: "plugin", From: "plugins"}, {Name: "free"},
		}}},
	}}
	if err := tools.Replace([]plugin.Plugin{wiki}, nil); err != nil {
		t.Fatal(err)
	}
	return &Completer{
		Prompts: New(tools), Tools: tools, Views: hiding{},
		Templates: func() []call.ResourceTemplate {
			return []call.ResourceTemplate{{URITemplate: "tab://{id}/text"}, {URITemplate: "deadletter://{id}"},
				{URITemplate: "other://{id}/{profile}"}, {URITemplate: "file:///{+path}{?a,b*}"}}
		},
		Tabs: func() []hub.Tab {
			return []hub.Tab{
				{ID: 11, Profile: "Home", URL: "https://wiki.example/a", Title: "Green tea"},
				{ID: 12, Profile: "Work", URL: "https://wiki.example/b", Title: "Black tea", Active: true,
					Focused: true},
				{ID: 21, Profile: "Home", URL: "https://www.mail.example/", Title: "Ink — mail", Active: true},
				{ID: 31, Profile: "Home", URL: "https://bank.example/", Title: "Oolong balance"},
				{ID: 32, Profile: "Home", URL: "https://forum.example/", Title: "Oolong thread"},
			}
		},
		Told: func(_ call.Session, t hub.Tab) (seen, told bool) { return t.ID != 31, t.ID != 32 },
		Browsers: func() []hub.Browser {
			return []hub.Browser{{Label: "Home", Connected: true}, {Label: "Work", Connected: true}, {Label: "Old"}}
		},
		Letters: func(context.Context, int) ([]call.DeadLetter, error) {
			return []call.DeadLetter{{ID: "aa01", Tool: "wiki__edit"}, {ID: "bb02", Tool: "demo__add"}}, nil
		},
	}
}

// hiding hides the tools of one plugin from everybody.
type hiding struct{ plugin string }

func (h hiding) View(call.Session) registry.View {
	return registry.View{Shows: func(t *registry.Tool) bool { return t.Group != h.plugin }}
}

func (h hiding) Hides(_ call.Session, plugin string, _ []*registry.Tool) bool {
	return plugin == h.plugin
}

// What a client may not see is not offered to it.
func TestCompletionsOfWhatIsHidden(t *testing.T) {
	c := completing(t)
	c.Views = hiding{"wiki"}
	if _, failure := c.Complete(t.Context(), call.Session{}, front.Ref{Prompt: "wiki__sum"}, "tool", "",
		nil); failure == nil || failure.Code != fault.UnknownPrompt {
		t.Errorf("an argument of a hidden prompt: %v", failure)
	}
	for _, source := range []string{"tools", "plugins"} {
		if list := c.from(call.Session{}, source, nil, ""); len(list) != 0 {
			t.Errorf("%s: %v", source, list)
		}
	}
}

func TestCompletionsAreKnownValuesThatTheClientMaySee(t *testing.T) {
	c := completing(t)
	sum, tab := front.Ref{Prompt: "wiki__sum"}, front.Ref{Template: "tab://{id}/text"}
	for _, step := range []struct {
		ref             front.Ref
		argument, typed string
		known           map[string]string
		want            []string
	}{
		{sum, "length", "", nil, []string{"One sentence", "one page", "Five pages"}},
		{sum, "length", "ONE", nil, []string{"One sentence", "one page"}},
		{sum, "length", "page", nil, []string{}},
		{sum, "free", "x", nil, []string{}},
		{sum, "tab", "", nil, []string{"12", "11"}},
		{sum, "tab", "gre", nil, []string{"11"}},
		{sum, "tab", "", map[string]string{"profile": "Home"}, []string{"11"}},
		{sum, "profile", "w", nil, []string{"Work"}},
		{sum, "tool", "wiki__", nil, []string{"wiki__read_page"}},
		{sum, "tool", "page", nil, []string{"wiki__read_page"}},
		{sum, "plugin", "W", nil, []string{"wiki"}},
		{tab, "id", "", nil, []string{"12", "21", "11", "32"}}, // 31 is one that the client may not see
		{tab, "id", "oolong", nil, []string{}},                 // nor the title of 32
		{tab, "id", "bank.ex", nil, []string{}},
		{tab, "id", "forum.ex", nil, []string{"32"}},
		{tab, "id", "2", nil, []string{"21"}},
		{tab, "id", "mail.ex", nil, []string{"21"}},
		{tab, "id", "tea", nil, []string{"12", "11"}},
		{front.Ref{Template: "deadletter://{id}"}, "id", "a", nil, []string{"aa01"}},
		{front.Ref{Template: "deadletter://{id}"}, "id", "demo", nil, []string{"bb02"}},
		{front.Ref{Template: "other://{id}/{profile}"}, "profile", "", nil, []string{"Home", "Work"}},
		{front.Ref{Template: "other://{id}/{profile}"}, "id", "", nil, []string{}},
		{front.Ref{Template: "file:///{+path}{?a,b*}"}, "path", "x", nil, []string{}},
		{front.Ref{Template: "file:///{+path}{?a,b*}"}, "b", "x", nil, []string{}},
	} {
		got, failure := c.Complete(t.Context(), call.Session{}, step.ref, step.argument, step.typed, step.known)
		if failure != nil || !slices.Equal(got.Values, step.want) || got.Values == nil || got.Total != len(step.want) ||
			got.HasMore {
			t.Errorf("%v %s %q: got %+v, %v; want %q", step.ref, step.argument, step.typed, got, failure, step.want)
		}
	}
	got, _ := c.Complete(t.Context(), call.Session{}, sum, "many", "value", nil)
	if len(got.Values) != 100 || got.Total != 250 || !got.HasMore {
		t.Errorf("of 250: %d values, total %d, more %t", len(got.Values), got.Total, got.HasMore)
	}
	c.Letters = func(context.Context, int) ([]call.DeadLetter, error) { return nil, errors.New("disk") }
	if got, failure := c.Complete(t.Context(), call.Session{}, front.Ref{Template: "deadletter://{id}"}, "id", "",
		nil); failure != nil || len(got.Values) != 0 {
		t.Errorf("with a store that fails: %+v, %v", got, failure)
	}
}

func TestWhatCannotBeCompleted(t *testing.T) {
	c := completing(t)
	for _, step := range []struct {
		ref      front.Ref
		argument string
		code     fault.Code
	}{
		{front.Ref{Prompt: "wiki__summ"}, "length", fault.UnknownPrompt},
		{front.Ref{Prompt: "wiki__sum"}, "lengt", fault.InvalidParams},
		{front.Ref{Template: "tab://{id}/texts"}, "id", fault.InvalidParams},
		{front.Ref{Template: "tab://{id}/text"}, "d", fault.InvalidParams},
	} {
		if _, failure := c.Complete(t.Context(), call.Session{}, step.ref, step.argument, "", nil); failure == nil ||
			failure.Code != step.code || failure.ProtocolNumber(true) != -32602 {
			t.Errorf("%v %s: %v", step.ref, step.argument, failure)
		}
	}
}

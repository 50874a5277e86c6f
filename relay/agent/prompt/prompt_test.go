package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/agent/prompt"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

var tea = plugin.Prompt{
	Name: "compare", Title: "Compare teas", Description: "Says which tea to buy.",
	Arguments: []plugin.PromptArgument{
		{Name: "kind", Description: "Green or black.", Required: true, Complete: []string{"green", "black"}},
		{Name: "limit", Description: "How many.", Default: "5"}, {Name: "note"},
	},
	Template: "Compare {{limit}} {{kind}} teas.{{note}}",
}

func offered(t *testing.T, prompts ...plugin.Prompt) (*registry.Registry, *prompt.Prompts) {
	t.Helper()
	tools := registry.New(nil)
	replace(t, tools, shop(prompts...))
	return tools, prompt.New(tools)
}

func shop(prompts ...plugin.Prompt) plugin.Plugin {
	return plugin.Plugin{Manifest: plugin.Manifest{
		Name: "shop", URLPatterns: []string{"https://shop.example/*"}, World: plugin.Isolated, Prompts: prompts,
		Tools: []plugin.Tool{{Name: "search", Description: "Finds.",
			InputSchema: json.RawMessage(`{"type":"object"}`)}},
	}}
}

func replace(t *testing.T, tools *registry.Registry, plugins ...plugin.Plugin) {
	t.Helper()
	if err := tools.Replace(plugins, nil); err != nil {
		t.Fatal(err)
	}
}

func TestRecipesAreListedUnderTheirPlugin(t *testing.T) {
	_, p := offered(t, tea, plugin.Prompt{Name: "browse", Description: "Looks around.", Template: "Look."})
	want := []call.Prompt{
		{Name: "shop__browse", Description: "Looks around."},
		{Name: "shop__compare", Title: "Compare teas", Description: "Says which tea to buy.",
			Arguments: []call.PromptArgument{
				{Name: "kind", Description: "Green or black.", Required: true},
				{Name: "limit", Description: "How many. Default: 5."}, {Name: "note"},
			}},
	}
	if diff := cmp.Diff(want, p.List()); diff != "" {
		t.Error(diff)
	}
}

func TestARecipeIsRendered(t *testing.T) {
	_, p := offered(t, tea)
	for _, c := range []struct {
		args map[string]string
		want string
	}{
		{map[string]string{"kind": "green"}, "Compare 5 green teas."},
		{map[string]string{"kind": "green", "limit": ""}, "Compare 5 green teas."},
		{map[string]string{"kind": "{{note}}", "limit": "2", "note": " <b>\n{{kind}}"},
			"Compare 2 {{note}} teas. <b>\n{{kind}}"},
	} {
		got, failure := p.Render(t.Context(), "shop__compare", c.args, nil)
		if failure != nil {
			t.Fatal(failure)
		}
		var content struct{ Type, Text string }
		if err := json.Unmarshal(got.Messages[0].Content, &content); err != nil {
			t.Fatal(err)
		}
		if len(got.Messages) != 1 || got.Messages[0].Role != "user" || content.Type != "text" ||
			content.Text != c.want ||
			got.Description != tea.Description {
			t.Errorf("%v: %+v, text %q", c.args, got, content.Text)
		}
	}
}

func TestUnknownPromptsAndArgumentsAreRefused(t *testing.T) {
	echo := plugin.Prompt{Name: "echo", Description: "Repeats.", Arguments: []plugin.PromptArgument{{Name: "x"}},
		Template: strings.Repeat("{{x}}", 20)}
	_, p := offered(t, tea, echo)
	for _, c := range []struct {
		name    string
		args    map[string]string
		code    fault.Code
		message string
		hint    string
	}{
		{"shop__compar", nil, fault.UnknownPrompt, `There is no prompt "shop__compar"`, "Did you mean shop__compare?"},
		{"else", nil, fault.UnknownPrompt, `There is no prompt "else"`, "List the prompts again"},
		{"shop__compare", nil, fault.InvalidParams, "The prompt shop__compare needs the argument kind",
			"Its arguments are: kind, limit, note."},
		{"shop__compare", map[string]string{"kind": ""}, fault.InvalidParams,
			"The prompt shop__compare needs the argument kind", "Its arguments are"},
		{"shop__compare", map[string]string{"kind": "green", "Note": "x"}, fault.InvalidParams,
			`The prompt shop__compare has no argument "Note"`, "Its arguments are"},
		{"shop__echo", map[string]string{"x": strings.Repeat("y", 100_000)}, fault.PromptFailed, "Prompt render failed",
			"longer than 1048576 bytes"},
	} {
		got, failure := p.Render(t.Context(), c.name, c.args, nil)
		if got != nil || failure == nil || failure.Code != c.code || failure.Message != c.message ||
			!strings.Contains(failure.Hint, c.hint) {
			t.Errorf("%s %.40v: %v, %+v", c.name, c.args, got, failure)
		}
	}
	_, failure := p.Render(t.Context(), "shop__echo",
		map[string]string{"x": strings.Repeat("y", 100_000)}, nil)
	if failure.ProtocolNumber(true) != -32603 ||
		string(failure.Data) != `{"prompt":"shop__echo","reason":"the text becomes longer than 1048576 bytes"}` {
		t.Errorf("number %d, data %s", failure.ProtocolNumber(true), failure.Data)
	}
}

func TestChangesOfRecipesAreAnnounced(t *testing.T) {
	tools, p := offered(t, tea)
	news := 0
	stop := p.OnChange(func() { news++ })
	steps := []struct {
		plugins []plugin.Plugin
		news    int
	}{
		{[]plugin.Plugin{shop(tea)}, 0},
		{[]plugin.Plugin{shop(tea, plugin.Prompt{Name: "b", Description: "B.", Template: "B"})}, 1},
		{nil, 2},
		{nil, 2},
		{[]plugin.Plugin{shop(tea)}, 3},
	}
	for i, s := range steps {
		replace(t, tools, s.plugins...)
		if news != s.news {
			t.Errorf("step %d: %d news, want %d", i, news, s.news)
		}
	}
	stop()
	replace(t, tools)
	if news != 3 {
		t.Error("news after stop")
	}
	if len(p.List()) != 0 {
		t.Error("recipes of a plugin that is gone")
	}
}

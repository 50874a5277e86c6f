package agentconfig

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/state/config"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func init() { config.Attach(Section) }

// load loads a config.json with the given text under the given environment.
func load(t *testing.T, text string, environ ...string) (config.Config, Settings, string) {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, one := range environ {
		name, value, _ := strings.Cut(one, "=")
		t.Setenv(name, value)
	}
	c, err := config.Load(home)
	if err != nil {
		return c, Settings{}, strings.ReplaceAll(err.Error(), string(home)+string(os.PathSeparator), "")
	}
	return c, Section.Of(c), ""
}

func TestSettingsAreReadFromFileAndEnvironment(t *testing.T) {
	_, c, failure := load(t, `{
  "providers": {
    "openai": {},
    "google-gemini": {"apiKey": {"file": "/keys/google"}, "defaults": {"temperature": 0.2}},
    "local": {"baseUrl": "http://127.0.0.1:11434/v1", "models": ["qwen3"],
      "pricing": {"qwen3": {"inputPerMillion": 1, "outputPerMillion": 2}}},
  },
  "workers": {"claude": {"command": "claude-acp", "args": ["--quiet"], "env": {"A": "b"}, "timeoutMs": 60000}},
  "agents": {"reader": {"providers": ["local"], "readOnly": true, "budget": {"maxTurns": 3, "maxMs": 9000}}},
  "delegation": {"defaultAgent": "claude", "maxSessions": 2, "budget": {"maxTokens": 500}},
}`, "TABRELAY_DELEGATION_IDLE_MS=2000", `TABRELAY_AGENTS={"second":{}}`)
	if failure != "" {
		t.Fatal(failure)
	}
	cold := 0.2
	wantProviders := map[string]Provider{
		"openai": {Kind: "openai"},
		"google-gemini": {Kind: "gemini", APIKey: config.KeySource{File: "/keys/google"},
			Defaults: provider.Params{Temperature: &cold}},
		"local": {Kind: "openai", BaseURL: "http://127.0.0.1:11434/v1", Models: []string{"qwen3"},
			Pricing: map[string]Price{"qwen3": {InputPerMillion: 1, OutputPerMillion: 2}}},
	}
	if diff := cmp.Diff(wantProviders, c.Providers, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	wantWorkers := map[string]Worker{"claude": {Command: "claude-acp", Args: []string{"--quiet"},
		Env: map[string]string{"A": "b"}, Protocol: "auto", Timeout: time.Minute}}
	if diff := cmp.Diff(wantWorkers, c.Workers, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	wantAgents := map[string]Agent{
		"reader": {Providers: []string{"local"}, ReadOnly: true, Budget: Budget{MaxTurns: 3, MaxTime: 9 * time.Second}},
		"second": {},
	}
	if diff := cmp.Diff(wantAgents, c.Agents, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	d := c.Limits
	if d.DefaultAgent != "claude" || d.MaxSessions != 2 || d.Idle != 2*time.Second || d.TTL != time.Hour ||
		d.Budget != (Budget{MaxTurns: 25, MaxToolCalls: 50, MaxTokens: 500}) || d.CostPerDayUSD != 5 {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"reader", "second", "claude"}, c.AgentIDs()); diff != "" {
		t.Error(diff)
	}
}

func TestAssistantExistsWhereAProviderDoes(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                            "",
		`{"providers": {"openai": {}}}`: "assistant",
		`{"providers": {"openai": {}}, "workers": {"w": {"command": "w"}}}`: "assistant w",
		`{"workers": {"w": {"command": "w"}}}`:                              "w",
	} {
		_, c, err := load(t, text)
		if got := strings.Join(c.AgentIDs(), " "); err != "" || got != want {
			t.Errorf("%s: %q, %s", text, got, err)
		}
	}
}

func TestMistakesNameTheirLineAndTheNextStep(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key of a provider", `{"providers": {"openai": {"modells": []}}}`,
			"config.json:1: providers.openai.modells: no such setting; did you mean models?"},
		{"unknown key of delegation", `{"delegation": {"budget": {"maxTurn": 1}}}`,
			"config.json:1: delegation.budget.maxTurn: no such setting; did you mean delegation.budget.maxTurns?"},
		{"the key itself", `{"providers": {"openai": {"apiKey": "sk-secret"}}}`,
			`config.json:1: providers.openai.apiKey: expected {"env": "NAME"}, {"file": "/absolute/path"} or ` +
				`{"keyring": "service/user"}; the key itself does not belong here`},
		{"two places of a key", `{"providers": {"openai": {"apiKey": {"env": "A", "file": "/a"}}}}`,
			`config.json:1: providers.openai.apiKey: expected {"env": "NAME"}, {"file": "/absolute/path"} or ` +
				`{"keyring": "service/user"}; the key itself does not belong here`},
		{"no kind", "{\"providers\": {\n\"mine\": {}}}", "config.json:2: providers.mine: has no kind; add " +
			`"kind": "openai", "anthropic" or "gemini", or a "baseUrl"`},
		{"no command", `{"workers": {"w": {}}}`, `config.json:1: workers.w: has no "command"`},
		{"a name twice", `{"workers": {"a": {"command": "a"}}, "agents": {"a": {}}}`,
			`config.json:1: workers.a: is also the name of an agent; rename one`},
		{"a name", `{"workers": {"A b": {"command": "a"}}}`,
			`config.json:1: workers.A b: expected a name of lower-case letters, digits, dots, _ and hyphens, ` +
				`at most 64`},
		{"unknown provider", `{"providers": {"openai": {}}, "agents": {"a": {"providers": ["opnai"]}}}`,
			`config.json:1: agents.a.providers: there is no provider "opnai"; did you mean openai?`},
		{"unknown default", `{"providers": {"openai": {}}, "delegation": {"defaultAgent": "asistant"}}`,
			`config.json:1: delegation.defaultAgent: there is no agent or worker "asistant"; did you mean assistant?`},
		{"variables are not repeated", `{"workers": {"w": {"command": "w", "env": {"A B": "secret"}}}}`,
			`config.json:1: workers.w.env: expected an object of texts by name of the variable`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := load(t, tt.text); err != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestRightsGrowWithProgramsAndProviders(t *testing.T) {
	const plain = `{"workers": {"w": {"command": "w"}}, "providers": {"openai": {}}}`
	before, _, err := load(t, plain)
	if err != "" {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		plain: "",
		`{}`:  "",
		`{"workers": {"w": {"command": "w", "env": {"A": "s3cret"}}}}`:    "workers.w: w -> w with A=#1ec1c26b",
		`{"workers": {"v": {"command": "/bin/sh", "args": ["-c", "x"]}}}`: "workers.v: none -> /bin/sh -c x",
		`{"providers": {"openai": {"baseUrl": "https://a.example/v1"}}}`: "providers.openai: openai -> " +
			"openai at https://a.example/v1",
		`{"providers": {"openai": {}}, "delegation": {"costPerDayUsd": 0}}`: "delegation.costPerDayUsd: " +
			"5 -> 0",
		`{"capabilities": {"delegation": false}}`:                                          "",
		`{"providers": {"openai": {"models": ["x"]}}, "delegation": {"costPerDayUsd": 1}}`: "",
		`{"providers": {"openai": {"apiKey": {"env": "B"}}, "anthropic": {}}}`: "providers.anthropic: none -> " +
			"anthropic; providers.openai: openai -> openai, key from the variable B",
	} {
		after, _, err := load(t, text)
		if err != "" {
			t.Fatal(text, err)
		}
		var got []string
		for _, d := range config.RightsOf(&after).Grown(config.RightsOf(&before)) {
			got = append(got, d.What+": "+d.Before+" -> "+d.After)
		}
		bounded := after.Within(config.RightsOf(&before))
		if more := config.RightsOf(&bounded).Grown(config.RightsOf(&before)); len(more) > 0 {
			t.Errorf("%s: more than before is left: %v", text, more)
		}
		if joined := strings.Join(got, "; "); joined != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, joined, want)
		}
	}
}

// The variables of a worker may be keys: their names are shown, and not their values, wherever the worker is written.
func TestVariablesOfWorkersAreHidden(t *testing.T) {
	home := config.Home(t.TempDir())
	text := `{"workers": {"w": {"command": "w", "env": {"A_KEY": "s3cret"}, "args": ["x"]}}}`
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{nil, {`TABRELAY_WORKERS={"w":{"command":"w","env":{"A_KEY":"s3cret"},` +
		`"args":["x"]}}`}} {
		list, err := config.Entries(home, environ)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			const want = `{"w":{"command":"w","env":{"A_KEY":"[hidden]"},"args":["x"]}}`
			if e.Key == "workers" && string(e.Value) != want {
				t.Errorf("from %s: %s, want %s", e.From, e.Value, want)
			}
		}
	}
	for key, value := range map[string]string{
		"workers":             `{"w":{"env":{"A":"s3cret"}}}`,
		"workers.w":           `{"env":{"A":"s3cret"}}`,
		"workers.w.env":       `{"A":"s3cret"}`,
		"workers.w.env.A":     `"s3cret"`,
		"workers.w.env.A.b":   `"s3cret"`,
		"workers.w.env.other": `s3cret`,
	} {
		if got := string(config.Shown(key, []byte(value))); strings.Contains(got, "s3cret") {
			t.Errorf("%s shows %s", key, got)
		}
	}
	if got := string(config.Shown("workers.w.command", []byte(`"w"`))); got != `"w"` {
		t.Error(got)
	}
}

// What a database of an earlier program has of the rights is compared as before, and what it has of a capability that
// is not there stays in it.
func TestRightsOfAnOlderDatabase(t *testing.T) {
	const kept = `{"permissions":null,"plugins":{},"shipped":["demo"],"workers":{"w":"w"},"costPerDay":5,` +
		`"modelProviders":{"openai":"openai"},"readPatterns":["*://*/*"],"unknown":[1]}`
	var before config.Rights
	if err := json.Unmarshal([]byte(kept), &before); err != nil {
		t.Fatal(err)
	}
	after, _, _ := load(t, `{"workers": {"w": {"command": "w"}}, "providers": {"openai": {}},
		"delegation": {"costPerDayUsd": 6}}`)
	grown := config.RightsOf(&after).Grown(before)
	if len(grown) != 1 || grown[0].What != "delegation.costPerDayUsd" || grown[0].Before != "5" {
		t.Errorf("%+v", grown)
	}
	text, err := json.Marshal(before)
	var again, was map[string]any
	if err != nil || json.Unmarshal(text, &again) != nil || json.Unmarshal([]byte(kept), &was) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, again); diff != "" {
		t.Error(diff)
	}
}

// A capability that is switched off leaves its settings where they are, and they do nothing. Switching it on again
// lets agents do more.
func TestSwitchedOff(t *testing.T) {
	off, s, _ := load(t, `{"capabilities": {"delegation": false}, "providers": {"openai": {}}}`)
	if off.Has("delegation") || len(s.Providers) != 1 || len(off.Warnings) != 1 ||
		off.Warnings[0] != "capabilities.delegation is false, so these settings do nothing: providers" {
		t.Errorf("%q", off.Warnings)
	}
	on, _, _ := load(t, `{"providers": {"openai": {}}}`)
	grown := config.RightsOf(&on).Grown(config.RightsOf(&off))
	if len(grown) != 1 || grown[0].What != "capabilities.delegation" || grown[0].After != "true" {
		t.Errorf("%+v", grown)
	}
	if bounded := on.Within(config.RightsOf(&off)); bounded.Has("delegation") || !on.Has("delegation") {
		t.Error("bounding did not keep it off, or changed what it was made of")
	}
}

package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDelegation(t *testing.T) {
	c, err := read(t, `{
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
	if err != nil {
		t.Fatal(err)
	}
	cold := 0.2
	wantProviders := map[string]Provider{
		"openai": {Kind: "openai"},
		"google-gemini": {Kind: "gemini", APIKey: KeySource{File: "/keys/google"},
			Defaults: RuntimeParams{Temperature: &cold}},
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
	d := c.Delegation
	if d.DefaultAgent != "claude" || d.MaxSessions != 2 || d.Idle != 2*time.Second || d.TTL != time.Hour ||
		d.Budget != (Budget{MaxTurns: 25, MaxToolCalls: 50, MaxTokens: 500}) || d.CostPerDayUSD != 5 {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"reader", "second", "claude"}, c.AgentIDs()); diff != "" {
		t.Error(diff)
	}
}

func TestAssistant(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                            "",
		`{"providers": {"openai": {}}}`: "assistant",
		`{"providers": {"openai": {}}, "workers": {"w": {"command": "w"}}}`: "assistant w",
		`{"workers": {"w": {"command": "w"}}}`:                              "w",
	} {
		c, err := read(t, text)
		if got := strings.Join(c.AgentIDs(), " "); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

func TestDelegationMistakes(t *testing.T) {
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
			if _, err := read(t, tt.text); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestDelegationRights(t *testing.T) {
	const plain = `{"workers": {"w": {"command": "w"}}, "providers": {"openai": {}}}`
	before, err := read(t, plain)
	if err != nil {
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
		`{"providers": {"openai": {"models": ["x"]}}, "delegation": {"costPerDayUsd": 1}}`: "",
		`{"providers": {"openai": {"apiKey": {"env": "B"}}, "anthropic": {}}}`: "providers.anthropic: none -> " +
			"anthropic; providers.openai: openai -> openai, key from the variable B",
	} {
		after, err := read(t, text)
		if err != nil {
			t.Fatal(text, err)
		}
		var got []string
		for _, d := range RightsOf(&after).Grown(RightsOf(&before)) {
			got = append(got, d.What+": "+d.Before+" -> "+d.After)
		}
		bounded := after.Within(RightsOf(&before))
		if more := RightsOf(&bounded).Grown(RightsOf(&before)); len(more) > 0 {
			t.Errorf("%s: more than before is left: %v", text, more)
		}
		if joined := strings.Join(got, "; "); joined != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, joined, want)
		}
	}
}

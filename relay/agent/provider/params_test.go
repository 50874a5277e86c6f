package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/agent/provider"
)

// TestParamsAreReadStrictly has each bound from both sides.
func TestParamsAreReadStrictly(t *testing.T) {
	const (
		temperature = "runtimeParams.temperature must be a number from 0 to 2"
		topP        = "runtimeParams.topP must be a number from 0 to 1"
		maxTokens   = "runtimeParams.maxTokens must be a whole number above 0"
		topK        = "runtimeParams.topK must be a whole number above 0"
		sequences   = "runtimeParams.stopSequences must be a list of texts"
		specific    = "runtimeParams.providerSpecific must be an object"
		object      = "runtimeParams must be an object"
		takes       = "; it takes maxTokens, model, providerSpecific, stopSequences, systemPrompt, temperature, " +
			"topK, topP"
	)
	for _, test := range []struct{ params, err string }{
		{`{}`, ""},
		{`{"temperature": 0}`, ""}, {`{"temperature": 2}`, ""}, {`{"temperature": 0.7}`, ""},
		{`{"temperature": -0.01}`, temperature}, {`{"temperature": 2.01}`, temperature},
		{`{"temperature": "1"}`, temperature}, {`{"temperature": null}`, temperature},
		{`{"temperature": 1e999}`, temperature}, {`{"temperature": [1]}`, temperature},
		{`{"topP": 0}`, ""}, {`{"topP": 1}`, ""}, {`{"topP": 0.5}`, ""},
		{`{"topP": -0.1}`, topP}, {`{"topP": 1.1}`, topP}, {`{"topP": true}`, topP}, {`{"topP": null}`, topP},
		{`{"maxTokens": 1}`, ""}, {`{"maxTokens": 4096}`, ""}, {`{"maxTokens": 1e3}`, ""}, {`{"maxTokens": 5.0}`, ""},
		{`{"maxTokens": 0}`, maxTokens}, {`{"maxTokens": -1}`, maxTokens}, {`{"maxTokens": 1.5}`, maxTokens},
		{`{"maxTokens": "5"}`, maxTokens}, {`{"maxTokens": null}`, maxTokens}, {`{"maxTokens": 1e300}`, maxTokens},
		{`{"topK": 1}`, ""}, {`{"topK": 40}`, ""},
		{`{"topK": 0}`, topK}, {`{"topK": -3}`, topK}, {`{"topK": 2.5}`, topK}, {`{"topK": {}}`, topK},
		{`{"stopSequences": []}`, ""}, {`{"stopSequences": ["a", "b"]}`, ""}, {`{"stopSequences": [""]}`, ""},
		{`{"stopSequences": "a"}`, sequences}, {`{"stopSequences": [1]}`, sequences},
		{`{"stopSequences": ["a", null]}`, sequences}, {`{"stopSequences": null}`, sequences},
		{`{"model": "gpt-4o"}`, ""}, {`{"model": 4}`, "runtimeParams.model must be a text"},
		{`{"model": null}`, "runtimeParams.model must be a text"},
		{`{"systemPrompt": ""}`, ""}, {`{"systemPrompt": []}`, "runtimeParams.systemPrompt must be a text"},
		{`{"providerSpecific": {}}`, ""}, {`{"providerSpecific": {"a": {"b": [null]}}}`, ""},
		{`{"providerSpecific": []}`, specific}, {`{"providerSpecific": "x"}`, specific},
		{`{"providerSpecific": null}`, specific},
		{`{"temprature": 1}`, `runtimeParams has no "temprature"` + takes},
		{`{"Temperature": 1}`, `runtimeParams has no "Temperature"` + takes},
		{`[]`, object}, {`null`, object}, {`"x"`, object}, {`{`, object}, {``, object},
		{`{"topP": 3, "temperature": 3}`, temperature},
	} {
		_, err := provider.ReadParams(json.RawMessage(test.params))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.err {
			t.Errorf("%s: %q, want %q", test.params, got, test.err)
		}
	}
}

func read(t *testing.T, params string) provider.Params {
	t.Helper()
	p, err := provider.ReadParams(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheFirstWhoGivesAParameterDecides(t *testing.T) {
	for _, test := range []struct {
		name   string
		layers []string
		want   string
	}{
		{"nobody gives any", []string{`{}`, `{}`}, `{}`},
		{"each layer", []string{`{"temperature": 0}`, `{"temperature": 1, "topP": 0.1}`, `{"topP": 0.2, "topK": 3}`,
			`{"topK": 4, "maxTokens": 5, "model": "m"}`},
			`{"temperature": 0, "topP": 0.1, "topK": 3, "maxTokens": 5, "model": "m"}`},
		{"an empty text is given", []string{`{"systemPrompt": ""}`, `{"systemPrompt": "be brief"}`},
			`{"systemPrompt": ""}`},
		{"lists are not joined", []string{`{"stopSequences": ["a"]}`, `{"stopSequences": ["b"]}`},
			`{"stopSequences": ["a"]}`},
		{"providerSpecific member by member", []string{`{"providerSpecific": {"a": 1}}`,
			`{"providerSpecific": {"a": {"x": 1}, "b": {"y": 2}}}`, `{"providerSpecific": {"b": 3, "c": null}}`},
			`{"providerSpecific": {"a": 1, "b": {"y": 2}, "c": null}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var layers []provider.Params
			for _, l := range test.layers {
				layers = append(layers, read(t, l))
			}
			if diff := cmp.Diff(plain(t, test.want), encoded(t, provider.Merge(layers...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func plain(t *testing.T, raw string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func encoded(t *testing.T, p any) any {
	t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return plain(t, string(raw))
}

// FuzzReadParams: what is read can be written, and is read as the same; merged with nothing it stays.
func FuzzReadParams(f *testing.F) {
	f.Add(`{"temperature": 2, "maxTokens": 1e3, "providerSpecific": {"a": [1]}}`)
	f.Add(`{"stopSequences": ["\ud800"], "topK": 2147483647}`)
	f.Add(`{"topP": -0}`)
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := provider.ReadParams(json.RawMessage(raw))
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		second, err := provider.ReadParams(again)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", raw, again, err)
		}
		if diff := cmp.Diff(encoded(t, p), encoded(t, second)); diff != "" {
			t.Error(diff)
		}
		merged := provider.Merge(provider.Params{}, p)
		if p.Temperature != merged.Temperature || p.TopK != merged.TopK {
			t.Errorf("%s is merged into something else", raw)
		}
	})
}

package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/capability/delegation/provider"
)

func read(t *testing.T, params string) (p provider.Params) {
	t.Helper()
	if err := json.Unmarshal([]byte(params), &p); err != nil {
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

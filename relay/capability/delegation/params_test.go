package delegation

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/schema"
)

// TestRuntimeParamsAreReadStrictly has each bound from both sides.
func TestRuntimeParamsAreReadStrictly(t *testing.T) {
	form, err := schema.Compile(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	accepted := func(given string) bool {
		var p provider.Params
		return len(form.Check(json.RawMessage(given))) == 0 && json.Unmarshal([]byte(given), &p) == nil
	}
	for _, given := range []string{
		`{}`, `{"temperature": 0}`, `{"temperature": 2}`, `{"temperature": 0.7}`, `{"topP": 0}`, `{"topP": 1}`,
		`{"topP": 0.5}`, `{"maxTokens": 1}`, `{"maxTokens": 4096}`, `{"topK": 1}`, `{"topK": 40}`,
		`{"stopSequences": []}`, `{"stopSequences": ["a", "b"]}`, `{"stopSequences": [""]}`, `{"model": "gpt-4o"}`,
		`{"systemPrompt": ""}`, `{"providerSpecific": {}}`, `{"providerSpecific": {"a": {"b": [null]}}}`,
	} {
		if !accepted(given) {
			t.Errorf("%s is refused", given)
		}
	}
	for _, given := range []string{
		`{"temperature": -0.01}`, `{"temperature": 2.01}`, `{"temperature": "1"}`, `{"temperature": null}`,
		`{"temperature": 1e999}`, `{"temperature": [1]}`, `{"topP": -0.1}`, `{"topP": 1.1}`, `{"topP": true}`,
		`{"topP": null}`, `{"maxTokens": 0}`, `{"maxTokens": -1}`, `{"maxTokens": 1.5}`, `{"maxTokens": "5"}`,
		`{"maxTokens": null}`, `{"maxTokens": 1e300}`, `{"topK": 0}`, `{"topK": -3}`, `{"topK": 2.5}`, `{"topK": {}}`,
		`{"stopSequences": "a"}`, `{"stopSequences": [1]}`, `{"stopSequences": ["a", null]}`,
		`{"stopSequences": null}`, `{"model": 4}`, `{"model": null}`, `{"systemPrompt": []}`,
		`{"providerSpecific": []}`, `{"providerSpecific": "x"}`, `{"providerSpecific": null}`,
		`{"temprature": 1}`, `{"Temperature": 1}`, `[]`, `null`, `"x"`, `{`, ``,
	} {
		if accepted(given) {
			t.Errorf("%s is accepted", given)
		}
	}
}

package dispatch

import (
	"encoding/json"
	"testing"
)

func TestWithoutTyped(t *testing.T) {
	for given, want := range map[string]string{
		`{"ref":"e1","count":2}`: `{"ref":"e1","count":2}`,
		`{"fields":[{"ref":"e1","value":"s"}],"submit":true}`: `{"fields":[` +
			`{"ref":"e1","value":"[redacted]"}],"submit":true}`,
		`{"text":"s","ref":"e1"}`: `{"text":"[redacted]","ref":"e1"}`,
		`{"steps":[{"tool":"fill","fields":[{"ref":"e1","value":["s"]}]},{"tool":"press","keys":"s"}]}`: `{"steps":[` +
			`{"tool":"fill","fields":[{"ref":"e1","value":"[redacted]"}]},{"tool":"press","keys":"[redacted]"}]}`,
		`{"dialogs":{"text":"s"}}`: `{"dialogs":"[redacted]"}`,
		`{"fields":"s"}`:           `{}`,
		`"s"`:                      `{}`,
	} {
		if got := withoutTyped(json.RawMessage(given)); string(got) != want {
			t.Errorf("withoutTyped(%s) = %s, want %s", given, got, want)
		}
	}
}

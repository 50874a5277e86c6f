package permit

import (
	"encoding/json"
	"testing"
)

// What a person is asked to allow is what the agent wrote, also where a screen would show something else.
func TestArgumentsAreLegible(t *testing.T) {
	for in, want := range map[string]string{
		`{"to":"ada"}`:                             `{"to":"ada"}`,
		"{\"to\":\"a\u202egnp.exe\u200b\"}":        `{"to":"a\u202egnp.exe\u200b"}`,
		"{\"x\":\"\U000e0041é \U0001f600\"}":       "{\"x\":\"\\udb40\\udc41é \U0001f600\"}",
		"{\n\t\"password\": \"hunter2hunter2\"\n}": "{\n\t\"password\": \"[redacted]\"\n}",
	} {
		if got := string(readable(json.RawMessage(in))); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

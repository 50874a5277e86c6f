package dispatch

import (
	"encoding/json"
	"testing"
)

// A member that an agent gives twice is left out twice: which of them the page gets is not for the audit log to guess.
func TestRedactedMembers(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{"ref":"e1","value":"a"}`, `{"ref":"e1","value":"[redacted]"}`},
		{`{"value":"a","value":"b"}`, `{"value":"[redacted]","value":"[redacted]"}`},
		{`{"ref":"value"}`, `{"ref":"value"}`},
	} {
		if got := redactMember(json.RawMessage(c.arguments), "value"); string(got) != c.want {
			t.Errorf("of %s %s is written down, want %s", c.arguments, got, c.want)
		}
	}
}

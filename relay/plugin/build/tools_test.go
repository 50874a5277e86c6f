package build

import (
	"encoding/json"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
)

func TestProgressPattern(t *testing.T) {
	for pattern, good := range map[string]bool{
		"": true, `^uploaded \d+ of \d+$`: true, strings.Repeat("x", maxPattern): true,
		"(": false, `(?=x)`: false, `(a)\1`: false, strings.Repeat("x", maxPattern+1): false,
	} {
		var r rawTool
		r.Tool = plugin.Tool{Name: "upload", Description: "Uploads.", ProgressPattern: pattern,
			InputSchema: json.RawMessage(`{"type":"object"}`)}
		problems := strings.Join(r.check(&source{name: "demo"}), "; ")
		if got := !strings.Contains(problems, "progressPattern"); got != good {
			t.Errorf("%.40q: %s", pattern, problems)
		}
	}
}

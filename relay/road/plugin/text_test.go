package plugin

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckText(t *testing.T) {
	for name, test := range map[string]struct {
		tool Tool
		ok   bool
	}{
		"plain":                {Tool{Description: "Reads.\n\tThen more: مرحبا\u200f, שלום, 👩\u200d💻."}, true},
		"turned":               {Tool{Description: "Reads.\u202e"}, false},
		"isolated":             {Tool{Description: "Reads.\u2066x\u2069"}, false},
		"a bell":               {Tool{Description: "Reads.\a"}, false},
		"an escape sequence":   {Tool{DisplayName: "Read\x1b[2J"}, false},
		"a later control":      {Tool{DisplayName: "Read\u009b"}, false},
		"in a schema":          {Tool{InputSchema: json.RawMessage("{\"description\":\"x\u202e\"}")}, false},
		"in a schema, escaped": {Tool{InputSchema: json.RawMessage(`{"description":"x\u202E"}`)}, false},
		"an escaped quote":     {Tool{OutputSchema: json.RawMessage(`{"description":"\u0022 \u000a \u00e4"}`)}, true},
		"a pattern of them": {Tool{InputSchema: json.RawMessage(`{"pattern":"^[^\\u0000-\\u001f\\\\u007f]*$"}`)},
			true},
		"behind a backslash": {Tool{InputSchema: json.RawMessage(`{"description":"\\\u0007"}`)}, false},
		"long":               {Tool{Description: strings.Repeat("x", maxDescription+1)}, false},
		"an escaped bell":    {Tool{OutputSchema: json.RawMessage(`{"description":"\u0007"}`)}, false},
	} {
		if err := test.tool.CheckText(); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

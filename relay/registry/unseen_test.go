package registry

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/plugin"
)

func TestUnseenCharacters(t *testing.T) {
	for name, test := range map[string]struct {
		tool plugin.Tool
		ok   bool
	}{
		"plain":                {plugin.Tool{Description: "Reads.\n\tThen more: مرحبا\u200f, שלום, 👩\u200d💻."}, true},
		"turned":               {plugin.Tool{Description: "Reads.\u202e"}, false},
		"isolated":             {plugin.Tool{Description: "Reads.\u2066x\u2069"}, false},
		"a bell":               {plugin.Tool{Description: "Reads.\a"}, false},
		"an escape sequence":   {plugin.Tool{DisplayName: "Read\x1b[2J"}, false},
		"a later control":      {plugin.Tool{DisplayName: "Read\u009b"}, false},
		"in a schema":          {plugin.Tool{InputSchema: json.RawMessage("{\"description\":\"x\u202e\"}")}, false},
		"in a schema, escaped": {plugin.Tool{InputSchema: json.RawMessage(`{"description":"x\u202E"}`)}, false},
		"an escaped quote":     {plugin.Tool{OutputSchema: json.RawMessage(`{"description":"\u0022 \u000a \u00e4"}`)}, true},
		"an escaped bell":      {plugin.Tool{OutputSchema: json.RawMessage(`{"description":"\u0007"}`)}, false},
	} {
		if err := legible(&test.tool); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

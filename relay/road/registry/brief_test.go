package registry

import (
	"strings"
	"testing"

	"tabrelay/relay/lib/rawjson"
)

// Alternatives are listed whole unless the description names each of them: then their types are.
func TestAlternativesThatAreNamed(t *testing.T) {
	const dialogs = `[{"type":"string","enum":["accept","dismiss"]},{"type":"object","properties":` +
		`{"text":{"type":"string"}},"required":["text"]}]`
	for _, test := range []struct {
		description, alternatives string
		listed                    bool
	}{
		{"accept, dismiss (default) or {text}.", dialogs, false},
		{"accept, or {text}.", dialogs, true},
		{"accept or dismiss.", dialogs, true},
		{"", dialogs, true},
		{"Text, number; true or false; an option, or a list of them.",
			`[{"type":"string"},{"type":"number"},{"type":"boolean"},` +
				`{"type":"array","items":{"type":"string"}}]`, false},
		{"Text or a list.", `[{"type":"string"},{"type":"null"},{"type":"array"}]`, true},
		{"A text.", `[{"type":"string","pattern":"^a"}]`, true},
		{"A text or an object.", `[{"type":"string"},{"type":"object"}]`, true},
		{"Either one.", `[{"const":"a"},{"const":"b"}]`, true},
	} {
		schema, _ := rawjson.Members([]byte(`{"type":"object","properties":{"a":{"description":"` + test.description +
			`","anyOf":` + test.alternatives + `}}}`))
		listed := string(rawjson.Join(brief(schema)))
		if !strings.Contains(listed, `"anyOf":[{`) || strings.Contains(listed, test.alternatives) != test.listed {
			t.Errorf("%q is listed as %s", test.description, listed)
		}
	}
}

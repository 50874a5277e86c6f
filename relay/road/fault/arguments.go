package fault

import (
	"bytes"
	"encoding/json"

	"tabrelay/relay/lib/rawjson"
)

// RedactArguments leaves out of arguments what looks like a credential, or has the name of one, and says whether there
// was something. Of what is no JSON nothing is left.
func RedactArguments(arguments json.RawMessage) (kept json.RawMessage, changed bool) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var value any
	if len(arguments) == 0 || d.Decode(&value) != nil {
		return json.RawMessage("{}"), len(arguments) > 0
	}
	value, changed = redactValue(value)
	if !changed {
		return arguments, false
	}
	return rawjson.MustEncode(value), true
}

func redactValue(value any) (kept any, changed bool) {
	switch value := value.(type) {
	case string:
		kept := Redact(value)
		return kept, kept != value
	case []any:
		for i := range value {
			var c bool
			value[i], c = redactValue(value[i])
			changed = changed || c
		}
	case map[string]any:
		named := namesSecret(value)
		for name, member := range value {
			c := true
			if !SecretName(name) && !(named && words().valued[name]) {
				member, c = redactValue(member)
			} else {
				member = redacted
			}
			value[name], changed = member, changed || c
		}
	}
	return value, changed
}

// namesSecret reports whether one member says that another is a credential: {"name": "password", "value": "…"}.
func namesSecret(members map[string]any) bool {
	for name, member := range members {
		if text, ok := member.(string); ok && words().naming[name] && SecretName(text) {
			return true
		}
	}
	return false
}

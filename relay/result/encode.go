package result

import (
	"bytes"
	"encoding/json"
)

// encode writes a value on one line, without escaping <, > and &. Values are structs of strings, numbers and valid
// JSON, which always encode.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("result: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

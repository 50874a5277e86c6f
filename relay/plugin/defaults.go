package plugin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// A schema's defaults are promises to the handler: it was written as if they were always filled in. Schemas do not
// reach the page, so their defaults do, and nothing else of them.

//go:embed reading/defaults.js
var defaultsSource string

var fillDefaults = sync.OnceValue(func() string {
	result := api.Transform(defaultsSource, api.TransformOptions{
		// Minifying syntax as well would drop the function: nobody calls it here.
		Loader: api.LoaderJS, MinifyWhitespace: true, MinifyIdentifiers: true, LogLevel: api.LogLevelSilent,
	})
	return string(result.Code)
})

// defaultsScript returns the script that makes handlers see the defaults of their schemas; nothing when there are none.
func defaultsScript(tools []Tool) []byte {
	trees := map[string]*defaults{}
	for _, t := range tools {
		if tree := readDefaults(t.InputSchema); tree != nil {
			trees[t.Name] = tree
		}
	}
	if len(trees) == 0 {
		return nil
	}
	encoded, err := json.Marshal(trees) // a map is encoded in the order of its keys
	if err != nil {
		return nil
	}
	code := fillDefaults()
	return fmt.Appendf(nil, "(%s)(%s.default.tools,%s);\n", trimCode(code), pageGlobal, encoded)
}

func trimCode(code string) string {
	for len(code) > 0 && (code[len(code)-1] == '\n' || code[len(code)-1] == ';') {
		code = code[:len(code)-1]
	}
	return code
}

// defaults is what a schema fills in: a value where one is missing, and the same for the fields of objects.
type defaults struct {
	Value  json.RawMessage      `json:"v,omitempty"`
	Fields map[string]*defaults `json:"f,omitempty"`
}

func readDefaults(schema json.RawMessage) *defaults {
	var s struct {
		Default    json.RawMessage            `json:"default"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	d := &defaults{Value: s.Default}
	for name, property := range s.Properties {
		if field := readDefaults(property); field != nil && name != "__proto__" {
			if d.Fields == nil {
				d.Fields = map[string]*defaults{}
			}
			d.Fields[name] = field
		}
	}
	if d.Value == nil && d.Fields == nil {
		return nil
	}
	return d
}

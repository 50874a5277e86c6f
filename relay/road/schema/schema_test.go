package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func init() { compileTime = time.Hour }

func TestUnusableSchemaIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, schema, want string }{
		{"not JSON", `{"type":`, "the schema is not JSON"},
		{"too large", `{"description":"` + strings.Repeat("x", MaxBytes) + `"}`, "at most 65536 are allowed"},
		{"too deep", strings.Repeat(`{"not":`, MaxDepth+1) + `{}` + strings.Repeat(`}`, MaxDepth+1),
			"nested deeper than 32 levels"},
		{"wrong type keyword", `{"type":"strnig"}`, "not a valid JSON Schema: at schema.type"},
		{"a number", `7`, "not a valid JSON Schema"},
		{"a file", `{"$ref":"file://` + file + `"}`, "nothing is loaded"},
		{"a URL", `{"$ref":"https://example.org/schema.json"}`, "nothing is loaded"},
		{"a relative reference", `{"$ref":"other.json"}`, "nothing is loaded"},
		{"an unknown draft", `{"$schema":"http://json-schema.org/draft-03/schema#"}`, "nothing is loaded"},
		{"a dangling reference", `{"$ref":"#/$defs/nothing"}`, "cannot be compiled"},
		{"itself", `{"$ref":"#"}`, "infinite loop"},
		{"a huge number", `{"maximum":1e1000001}`, "the schema is not JSON"},
		{"exponential", exponential(30), "abandoned"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(test.schema))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// exponential is a schema whose check would visit 2^levels subschemas.
func exponential(levels int) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{}`)
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1)
	}
	fmt.Fprintf(&b, `},"$ref":"#/$defs/d%d"}`, levels)
	return b.String()
}

func TestCheckStopsAtItsLimits(t *testing.T) {
	// Harmless for {}, and exponential in the depth of the document.
	s := compiled(t,
		`{"$defs":{"n":{"allOf":[{"properties":{"x":{"$ref":"#/$defs/n"}}},`+
			`{"properties":{"x":{"$ref":"#/$defs/n"}}}]}},`+
			`"$ref":"#/$defs/n"}`)
	deep := strings.Repeat(`{"x":`, 100) + `1` + strings.Repeat(`}`, 100)
	if got := Explain(s.Check(json.RawMessage(deep))); got != "too complex to be checked against the "+
		"schema" {
		t.Errorf("got %s", got)
	}
	if got := s.Check(json.RawMessage(`{"x":{"x":1}}`)); got != nil {
		t.Errorf("the next check failed too: %v", got)
	}
	deeper := strings.Repeat(`[`, maxDocumentDepth+1) + strings.Repeat(`]`, maxDocumentDepth+1)
	if got := Explain(s.Check(json.RawMessage(deeper))); got != "nested deeper than 1000 levels" {
		t.Errorf("got %s", got)
	}
}

func TestLongDocumentIsChecked(t *testing.T) {
	s := compiled(t,
		`{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},`+
			`"uniqueItems":true}`)
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, `,{"id":%d}`, i)
	}
	if got := s.Check(json.RawMessage("[" + b.String()[1:] + "]")); got != nil {
		t.Errorf("a long document that fits was refused: %v", got)
	}
}

func TestChecksRunConcurrently(t *testing.T) {
	s := compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if s.Check(json.RawMessage(`{"n":1}`)) != nil || len(s.Check(json.RawMessage(`{"n":"1"}`))) != 1 {
					t.Error("a check answered for another one's document")
				}
			}
		})
	}
	wg.Wait()
}

func compiled(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"enum":["x","%d"]}},"additionalProperties":false}`),
		[]byte(`{"b":1e308}`))
	f.Add([]byte(`{"anyOf":[{"type":"string","pattern":"^(?=a)"},{"$ref":"#/anyOf/0"}]}`), []byte(`[[[]]]`))
	f.Add([]byte(exponential(6)), []byte(`{}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true,`+
		`"multipleOf":0.01}`), []byte(`-0.0`))
	f.Add([]byte(`{"oneOf":[{"const":1},{"const":2}],"uniqueItems":true,"unevaluatedProperties":false}`),
		[]byte("{\"\\ud800\":\"\xff\"}"))
	f.Add([]byte(`{"$id":"a/b","$defs":{"x":{"$anchor":"q","$dynamicAnchor":"z"}},"$dynamicRef":"#z"}`), []byte(`"x"`))
	f.Fuzz(func(t *testing.T, schema, doc []byte) {
		s, err := Compile(schema)
		if err != nil {
			return
		}
		problems := s.Check(doc)
		if text := Explain(problems); (text == "") != (len(problems) == 0) || len(text) > 8*1024 {
			t.Errorf("%d problems are explained in %d bytes: %q", len(problems), len(text), text)
		}
	})
}

const typical = `{"type":"object","properties":{"query":{"type":"string","minLength":1,"description":"What to search for"},
	"limit":{"type":"integer","minimum":1,"maximum":100},"namespace":{"enum":["main","talk","user"]},
	"since":{"type":"string","format":"date-time"},"steps":{"type":"array","items":{"anyOf":[
	{"type":"object","properties":{"click":{"type":"integer"}},"required":["click"]},
	{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}]}}},"required":["query"],"additionalProperties":false}`

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compiled(b, typical)
	}
}

func BenchmarkCheck(b *testing.B) {
	s := compiled(b, typical)
	doc := json.RawMessage(`{"query":"tab relay","limit":10,"namespace":"main","steps":[{"click":1},{"text":"x"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if s.Check(doc) != nil {
			b.Fatal("a document that fits was refused")
		}
	}
}

func BenchmarkCheckMebibyte(b *testing.B) {
	s := compiled(b, `{"type":"object","properties":{"text":{"type":"string"}}}`)
	doc := json.RawMessage(`{"text":"` + strings.Repeat("a", 1<<20) + `"}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if s.Check(doc) != nil {
			b.Fatal("a document that fits was refused")
		}
	}
}

package front

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var messageSeeds = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `01`, `1.`, `1e5`, `1E+5`, `1e`, `-`, `.5`, `""`, `"\u00e9"`,
	`"\u00g0"`, `"\x"`,
	`{"a":1,}`, `{"a" 1}`, `[1,]`, `[1 2]`, `{"a":{"b":[1,2,{"c":null}]}}`, "\"\n\"", `"`, `{`, `[`, ` {"a" : [ ] } `,
	`{"a":1}{`,
	`"aaaaaaaaaaaaaaaaaaaaaaaa\"bbbbbbbbbbbbbbb"`, `tru`, `nulll`, "\"caf\xc3\xa9 \x7f\"", "\"\xff\"", `{"a":1,"a":2}`,
	strings.Repeat("[", 40) + strings.Repeat("]", 40),
}

// FuzzReadable: a message that can be read is one that encoding/json accepts.
func FuzzReadable(f *testing.F) {
	for _, seed := range messageSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxDepth {
			return
		}
		if got, want := checkText(text) == nil, json.Valid(text); got != want {
			t.Errorf("readable says %v, encoding/json says %v: %q", got, want, text)
		}
	})
}

func TestDepthOfMessagesIsLimited(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		fail := checkText([]byte(strings.Repeat(open, 100_000)))
		if fail == nil || !strings.Contains(fail.Message, "1000 levels") {
			t.Errorf("100 000 open %q: it says %v", open, fail)
		}
	}
}

// FuzzParse: no message crashes the parser, and what it cuts out is JSON that encoding/json reads the same way.
func FuzzParse(f *testing.F) {
	for _, seed := range append(messageSeeds,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"a__b","arguments":{"z":1,`+
			`"a":2},"_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"m\u0065thod":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","method":"x","params":[1]}`,
		`[{"jsonrpc":"2.0"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\u0061":2}}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, fail := parse(text)
		if fail != nil {
			return
		}
		var want struct {
			ID     json.RawMessage            `json:"id"`
			Params map[string]json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("parse accepts what encoding/json does not: %v", err)
		}
		for _, field := range m.members {
			if !json.Valid(field.Value) {
				t.Errorf("member %q is not JSON: %q", field.Name, field.Value)
			}
			if got, ok := want.Params[field.Name]; ok && !bytes.Equal(bytes.TrimSpace(got), field.Value) {
				t.Errorf("member %q: %q, encoding/json has %q", field.Name, field.Value, got)
			}
		}
	})
}

func TestParseKeepsTheIDAndRefusesInvalidMessages(t *testing.T) {
	for _, c := range []struct{ name, text, id, code string }{
		{"request", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "7", ""},
		{"string id", `{"id":"7","method":"ping","jsonrpc":"2.0"}`, `"7"`, ""},
		{"large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", ""},
		{"notification", `{"jsonrpc":"2.0","method":"ping"}`, "", ""},
		{"reply", `{"jsonrpc":"2.0","id":1,"result":{}}`, "1", ""},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", "INVALID_REQUEST"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "", "INVALID_REQUEST"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "", "INVALID_REQUEST"},
		{"broken batch", `[{"jsonrpc"`, "", "PARSE_ERROR"},
		{"number", `1`, "", "INVALID_REQUEST"},
		{"broken", `{"jsonrpc":"2.0","id":1`, "", "PARSE_ERROR"},
		{"trailing", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, "", "PARSE_ERROR"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "", "PARSE_ERROR"},
		{"version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", "INVALID_REQUEST"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", "INVALID_REQUEST"},
		{"method number", `{"jsonrpc":"2.0","id":1,"method":3}`, "1", "INVALID_REQUEST"},
		{"two results", `{"jsonrpc":"2.0","id":"a","result":{},"result":{}}`, `"a"`, "INVALID_REQUEST"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "", "INVALID_REQUEST"},
		{"two names", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`, "1",
			"INVALID_REQUEST"},
		{"id behind what is wrong", `{"params":{"a":1,"a":2},"jsonrpc":"2.0","method":"ping","id":"b"}`, `"b"`,
			"INVALID_REQUEST"},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 1001) +
			strings.Repeat("]", 1001) + `}}`, "1", "PARSE_ERROR"},
		{"params not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", "1",
			"PARSE_ERROR"},
		{"object id, no version", `{"id":{},"method":"ping"}`, "", "INVALID_REQUEST"},
		{"two ids, no version", `{"id":1,"id":1,"method":"ping"}`, "", "INVALID_REQUEST"},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, "1", "INVALID_PARAMS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, fail := parse([]byte(c.text))
			code := ""
			if fail != nil {
				code = string(fail.Code)
			}
			if code != c.code || string(m.id) != c.id {
				t.Errorf("id %q, code %q; want %q, %q", m.id, code, c.id, c.code)
			}
		})
	}
}

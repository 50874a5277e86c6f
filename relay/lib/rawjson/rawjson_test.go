package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembersAreListed(t *testing.T) {
	members, ok := Members(json.RawMessage(` { "a" : [1, {"b": "]}\\"}] , "ta\u0062Id":7,"": "x\"y" ,"z":null} `))
	if !ok {
		t.Fatal("not an object")
	}
	want := []Member{
		{"a", []byte(`"a"`), []byte(`[1, {"b": "]}\\"}]`)},
		{"tabId", []byte(`"ta\u0062Id"`), []byte(`7`)},
		{"", []byte(`""`), []byte(`"x\"y"`)},
		{"z", []byte(`"z"`), []byte(`null`)},
	}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Error(diff)
	}
	if got := string(Join(members)); got != `{"a":[1, {"b": "]}\\"}],"ta\u0062Id":7,"":"x\"y","z":null}` {
		t.Error(got)
	}
	if got := Get(members, "tabId"); string(got) != "7" {
		t.Errorf("Get: %s", got)
	}
	for _, doc := range []string{"", "[]", "null", `"{"`} {
		if _, ok := Members(json.RawMessage(doc)); ok || IsObject(json.RawMessage(doc)) {
			t.Errorf("%q is no object", doc)
		}
	}
}

func TestDepthOfNestedValues(t *testing.T) {
	for doc, want := range map[string]int{
		`1`: 0, `"[[["`: 0, `[]`: 1, `[{}]`: 2, `{"a":[{}]}`: 3, `[[],[[],[[1]]]]`: 4, `{"a":[{"b":[]}],"c":{}}`: 4,
		"[ // [\n[]]": 2, `[/* " [ */ [[]]]`: 3, `["/*", [["//"]]]`: 3, "[/": 1, "[/*[": 1,
		strings.Repeat("[", 40) + strings.Repeat("]", 40): 40, strings.Repeat("[", 100_000): 100_000,
	} {
		if got := Depth(json.RawMessage(doc)); got != want {
			t.Errorf("%.40s: depth %d, want %d", doc, got, want)
		}
	}
}

// FuzzMembers compares with what encoding/json reads, and takes documents apart and together again.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, ` { "a\"" : "\\" , "b":[{},"}"] }`, `{"a":-1.5e3,"a":true}`, `{`,
		`{"`,
		`{"a"`, `{"a":`, `{"a":{`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		members, ok := Members(doc) // must not panic on anything
		Depth(doc)
		var want map[string]json.RawMessage
		if !json.Valid(doc) || json.Unmarshal(doc, &want) != nil || want == nil {
			return
		}
		if !ok {
			t.Fatalf("%q was not taken for an object", doc)
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[m.Name] = m.Value
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d names, want %d", doc, len(got), len(want))
		}
		for name, value := range want {
			if !bytes.Equal(got[name], bytes.TrimSpace(value)) {
				t.Fatalf("%q: %q is %s, want %s", doc, name, got[name], value)
			}
		}
		var again, before any
		if json.Unmarshal(Join(members), &again) != nil || json.Unmarshal(doc, &before) != nil ||
			!cmp.Equal(again, before) {
			t.Fatalf("%q became %s", doc, Join(members))
		}
	})
}

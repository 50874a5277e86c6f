package rawjson

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestHarmless(t *testing.T) {
	for _, test := range []struct{ doc, clean, left string }{
		{`{"__proto__":1}`, `{}`, "__proto__"},
		{`{"a":1,"__proto__":{"x":[1,2]},"b":2}`, `{"a":1,"b":2}`, "__proto__"},
		{` { "constructor" : 1 , "prototype" : [ ] , "c" : { "constructor" : 2 } } `, `{"c":{}}`, "constructor prototype"},
		{`[{"__proto__":1},[{"a":{"prototype":1}}],"__proto__"]`, `[{},[{"a":{}}],"__proto__"]`, "__proto__ prototype"},
		{`{"\u005f_proto__":1,"\u0063onstructor":2,"prototyp\u0065":3}`, `{}`, "__proto__ constructor prototype"},
		{`{"\u005F\u005F\u0070roto__":1}`, `{}`, "__proto__"},
		{`{"__PROTO__":1,"__proto":2,"proto__type":"constructor","a\"constructor":3}`, `{"__PROTO__":1,"__proto":2,"proto__type":"constructor","a\"constructor":3}`, ""},
		{`{"a":"\"__proto__\":1"}`, `{"a":"\"__proto__\":1"}`, ""},
		{`"__proto__"`, `"__proto__"`, ""},
	} {
		valid, _, harmful := Inspect(json.RawMessage(test.doc))
		if !valid || harmful != (test.left != "") {
			t.Errorf("Inspect(%s) = %v, harmful %v", test.doc, valid, harmful)
		}
		clean, left := Harmless(json.RawMessage(test.doc))
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("Harmless(%s) left out %q, want %q", test.doc, got, test.left)
		}
		if strings.Join(strings.Fields(string(clean)), "") != test.clean {
			t.Errorf("Harmless(%s) = %s, want %s", test.doc, clean, test.clean)
		}
	}
}

func TestInspectDepth(t *testing.T) {
	for depth, doc := range []string{`1`, `[]`, `[{}]`, `{"a":[{}]}`, `[[],[[],[[1]]]]`} {
		if _, got, _ := Inspect(json.RawMessage(doc)); got != depth {
			t.Errorf("Inspect(%s) says %d levels, want %d", doc, got, depth)
		}
	}
}

// What is left is the document without those members, as a decoder sees it.
func FuzzHarmless(f *testing.F) {
	for _, doc := range []string{`{"__proto__":1,"a":[{"constructor":{}}]}`, `{"\u005f_proto__":[1,{}]}`, ` [ 1 , { "a" : null , "prototype" : "x" } ] `, `{"a":1e5,"__proto__":"\\"}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		valid, depth, harmful := Inspect(doc)
		if valid != json.Valid(doc) {
			t.Fatalf("Inspect says %v", valid)
		}
		if !valid || depth > MostDeep {
			return
		}
		clean, left := Harmless(doc)
		var was, is any
		if json.Unmarshal(doc, &was) != nil {
			return // a number that has no float64
		}
		if err := json.Unmarshal(clean, &is); err != nil {
			t.Fatalf("%s is %v", clean, err)
		}
		if (len(left) > 0) != harmful {
			t.Errorf("left out %v, harmful %v", left, harmful)
		}
		if want := without(was); !reflect.DeepEqual(want, is) {
			t.Errorf("%s gives %s", doc, clean)
		}
	})
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if slices.Contains(harmfulNames, name) {
				delete(v, name)
			} else {
				v[name] = without(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

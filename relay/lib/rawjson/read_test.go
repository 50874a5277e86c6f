package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeRefusesWhatIsNotJSON(t *testing.T) {
	for doc, want := range map[string]error{
		`1e999`: ErrRange, `{"a":[-1e999]}`: ErrRange, `[1e999`: ErrInvalid, ``: ErrInvalid, `{"a":1,}`: ErrInvalid,
		`01`: ErrInvalid, `"\x"`: ErrInvalid, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001): ErrInvalid,
	} {
		if _, _, err := Decode(json.RawMessage(doc)); !errors.Is(err, want) {
			t.Errorf("%.20s: %v, want %v", doc, err, want)
		}
	}
}

// FuzzDecode compares with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `true`, `fals`, `nul`, `0`, `-0`, `01`, `1.`, `-`, `1e5`, `1E+5`, `1e`, `1e999`, `-1.25e-3`,
		`""`,
		`"`, `"a`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\u12g4"`, `"\`, "\"\t\"", "\"a long string with \xff in it\"",
		`"` + strings.Repeat("x", 40) + `\n"`, `[]`, `[`, `[1`, `[1,]`, `[1,"a",[{}]]`, `]`, `{}`, `{`, `{"a"`, `{"a":`,
		`{"a":1`, `{"a":1,}`, `{"a":1,"a":{"b":2},"\u0061":[null]}`, `{a:1}`, `{} x`, " {\"a\" :\r\n[ ] }\t", `{1:2}`,
		`{]`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) +
			strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		valid := json.Valid(doc)
		if got := Valid(doc); got != valid {
			t.Fatalf("%q: valid is %v, encoding/json says %v", doc, got, valid)
		}
		var want any
		failed := json.Unmarshal(doc, &want)
		got, depth, err := Decode(doc)
		if (err == nil) != (failed == nil) || errors.Is(err, ErrInvalid) == valid {
			t.Fatalf("%q: %v, encoding/json says %v", doc, err, failed)
		}
		if err == nil && len(doc) < 4096 && (!cmp.Equal(got, want) || depth != Depth(doc)) {
			t.Fatalf("%q: %v of %d levels, want %v", doc, got, depth, want)
		}
	})
}

func TestPrototypesAreLeftOut(t *testing.T) {
	for _, test := range []struct{ doc, clean, left string }{
		{`{"__proto__":1}`, `{}`, "__proto__"},
		{`{"a":1,"__proto__":{"x":[1,2]},"b":2}`, `{"a":1,"b":2}`, "__proto__"},
		{` { "constructor" : 1 , "prototype" : [ ] , "c" : { "constructor" : 2 } } `, `{"c":{}}`,
			"constructor prototype"},
		{`[{"__proto__":1},[{"a":{"prototype":1}}],"__proto__"]`, `[{},[{"a":{}}],"__proto__"]`, "__proto__ prototype"},
		{`{"\u005f_proto__":1,"\u0063onstructor":2,"prototyp\u0065":3}`, `{}`, "__proto__ constructor prototype"},
		{`{"\u005F\u005F\u0070roto__":1}`, `{}`, "__proto__"},
		{`{"__PROTO__":1,"__proto":2,"proto__type":"constructor","a\"constructor":3}`,
			`{"__PROTO__":1,"__proto":2,"proto__type":"constructor","a\"constructor":3}`, ""},
		{`{"a":"\"__proto__\":1"}`, `{"a":"\"__proto__\":1"}`, ""},
		{`"__proto__"`, `"__proto__"`, ""},
	} {
		clean, left := WithoutPrototypes(json.RawMessage(test.doc))
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("%s: left out %q, want %q", test.doc, got, test.left)
		}
		if strings.Join(strings.Fields(string(clean)), "") != test.clean {
			t.Errorf("%s became %s, want %s", test.doc, clean, test.clean)
		}
	}
}

// What is left is the document without those members, as a decoder sees it.
func FuzzWithoutPrototypes(f *testing.F) {
	for _, doc := range []string{
		`{"__proto__":1,"a":[{"constructor":{}}]}`, `{"\u005f_proto__":[1,{}]}`,
		` [ 1 , { "a" : null , "prototype" : "x" } ] `, `{"a":1e5,"__proto__":"\\"}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !Valid(doc) || Depth(doc) > MostDeep {
			return
		}
		clean, left := WithoutPrototypes(doc)
		var was, is any
		if json.Unmarshal(doc, &was) != nil {
			return // a number that has no float64
		}
		if err := json.Unmarshal(clean, &is); err != nil {
			t.Fatalf("%s is %v", clean, err)
		}
		before, _ := json.Marshal(was)
		want := without(was)
		after, _ := json.Marshal(want)
		if !reflect.DeepEqual(want, is) || (len(left) > 0) != (string(before) != string(after)) {
			t.Errorf("%s gives %s, left out %v", doc, clean, left)
		}
	})
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if slices.Contains(prototypeNames, name) {
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

func TestHalfPairsAreReplaced(t *testing.T) {
	for doc, want := range map[string]string{
		`"plain"`:                   `"plain"`,
		`"\n\u00e9\\ud800"`:         `"\n\u00e9\\ud800"`,
		`"\ud83d\ude00"`:            `"\ud83d\ude00"`,
		`"a\ud800b"`:                `"a�b"`,
		`"\uDC00"`:                  `"�"`,
		`"\ud800\ud83d\ude00"`:      `"�😀"`,
		`"\ud800\u0041"`:            `"�A"`,
		`{"\udfff":["\ud800\\u"]}`:  `{"�":["�\\u"]}`,
		`{"\udfff":1,"\ud800":1.0}`: `{"�":1,"�":1.0}`,
		`"cut off \ud8`:             `"cut off \ud8`,
		`"\`:                        `"\`,
		`"\ud83d\ude00\ude00 \\\\"`: `"😀� \\\\"`,
	} {
		got, changed := WithoutHalfPairs(json.RawMessage(doc))
		if string(got) != want || changed != (doc != want) {
			t.Errorf("%s: got %s (changed %v), want %s", doc, got, changed, want)
		}
	}
}

func FuzzWithoutHalfPairs(f *testing.F) {
	f.Add([]byte(`"a\ud800\\ud800\"\udc00"`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, _ := WithoutHalfPairs(doc)
		if json.Valid(doc) != json.Valid(got) {
			t.Errorf("%q became %q", doc, got)
		}
		if again, changed := WithoutHalfPairs(got); changed {
			t.Errorf("%q was not whole: %q", got, again)
		}
		var was, is any
		if json.Unmarshal(doc, &was) == nil && (json.Unmarshal(got, &is) != nil || !cmp.Equal(was, is)) {
			t.Errorf("%q is %v now, and was %v", got, is, was)
		}
	})
}

// FuzzText compares with encoding/json.
func FuzzText(f *testing.F) {
	for _, seed := range []string{`""`, `"a<b>&\u2028"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"",
		`"\\\"\b\f\n\r\t\u0001"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if json.Unmarshal(raw, &want) != nil || raw[0] != '"' || raw[len(raw)-1] != '"' {
			return
		}
		if text, ok := Text(raw); !ok || text != want {
			t.Errorf("%q: %q %v, want %q", raw, text, ok, want)
		}
	})
}

// FuzzAppendText: what is written reads back as what it was, on one line.
func FuzzAppendText(f *testing.F) {
	for _, seed := range []string{
		"", "plain", `"\`, "a\nb\r\tc\x00\x1f", "<>&\u2028é", "bad \xff\xfe utf8", strings.Repeat("x", 100) + `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded := AppendText(nil, text)
		var got string
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%q: %v", encoded, err)
		}
		if want := string([]rune(text)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.ContainsAny(string(encoded), "\r\n") {
			t.Errorf("a line break in %q", encoded)
		}
	})
}

// FuzzAppendDocument: a document is written as any other text.
func FuzzAppendDocument(f *testing.F) {
	for _, seed := range []string{
		`{}`, `""`, `"a\\\"b\n"`, "{\t\"a\":\t[ \"\\t\", 1]}", `{"text":"` + strings.Repeat("x", 100) + `","b":"\\"}`,
		`"é\u2028"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !Valid(doc) || !utf8.Valid(doc) || bytes.ContainsAny(doc, "\r\n") {
			return
		}
		if got, want := AppendDocument([]byte("x"), doc), AppendText([]byte("x"), doc); string(got) != string(want) {
			t.Errorf("%q became %s, want %s", doc, got, want)
		}
	})
}

package rawjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeRefuses(t *testing.T) {
	for doc, want := range map[string]error{
		`1e999`: ErrRange, `{"a":[-1e999]}`: ErrRange, `[1e999`: ErrInvalid, ``: ErrInvalid, `{"a":1,}`: ErrInvalid, `01`: ErrInvalid, `"\x"`: ErrInvalid,
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001): ErrInvalid,
	} {
		if _, err := Decode(json.RawMessage(doc)); !errors.Is(err, want) {
			t.Errorf("%.20s: %v, want %v", doc, err, want)
		}
	}
}

// FuzzDecode compares with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `true`, `fals`, `nul`, `0`, `-0`, `01`, `1.`, `-`, `1e5`, `1E+5`, `1e`, `1e999`, `-1.25e-3`, `""`, `"`, `"a`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`,
		`"\u12g4"`, `"\`, "\"\t\"", "\"a long string with \xff in it\"", `"` + strings.Repeat("x", 40) + `\n"`, `[]`, `[`, `[1`, `[1,]`, `[1,"a",[{}]]`, `]`,
		`{}`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1,"a":{"b":2},"\u0061":[null]}`, `{a:1}`, `{} x`, " {\"a\" :\r\n[ ] }\t",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
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
		got, err := Decode(doc)
		if (err == nil) != (failed == nil) || errors.Is(err, ErrInvalid) == valid {
			t.Fatalf("%q: %v, encoding/json says %v", doc, err, failed)
		}
		if err == nil && len(doc) < 4096 && !cmp.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", doc, got, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	doc := json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		Valid(doc)
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, doc := range map[string]string{
		"1MiB": `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, "small": `{"n":1,"tags":["a","b"],"deep":{"ok":true,"none":null}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(json.RawMessage(doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				var value any
				if err := json.Unmarshal([]byte(doc), &value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

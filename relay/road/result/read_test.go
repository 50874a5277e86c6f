package result

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func kept(doc string) call.StoredResult {
	return call.StoredResult{ID: "i1", MIMEType: "application/json", Data: []byte(doc)}
}

func TestKeptResultIsReadInPieces(t *testing.T) {
	rows := `{"a":"` + strings.Repeat("ä", 60) + `","rows":` + numbers(30, "x") + `}`
	for _, test := range []struct {
		name string
		from call.StoredResult
		ask  Arguments
		most int
		want string
	}{
		{"whole", kept(`{"a":1}`), Arguments{}, 200,
			`{"result":{"a":1},"truncated":false,"kept":1,"total":1,"unit":"items","offset":0}`},
		{"items", kept(numbers(30, "x")), Arguments{Offset: 28}, 200,
			`{"result":[{"id":28,"t":"x"},{"id":29,"t":"x"}],"truncated":false,"kept":2,"total":30,"unit":"items",` +
				`"offset":28}`},
		{"limit", kept(rows), Arguments{ArrayPath: ".rows", Limit: 1}, 500,
			`{"result":[{"id":0,"t":"x"}],"truncated":true,"kept":1,"total":30,"unit":"items","offset":0,` +
				`"nextOffset":1}`},
		{"at the end", kept(`[1,2]`), Arguments{Offset: 2}, 200,
			`{"result":[],"truncated":false,"kept":0,"total":2,"unit":"items","offset":2}`},
		{"text inside", kept(rows), Arguments{ArrayPath: ".a", Offset: 58}, 200,
			`{"result":"ää","truncated":false,"kept":2,"total":60,"unit":"characters","offset":58}`},
		{"its JSON", kept(rows), Arguments{Limit: 10}, 300,
			`{"result":"{\"a\":\"ääää","truncated":true,"kept":10,"total":607,"unit":"characters","offset":0,` +
				`"nextOffset":10,` +
				`"note":"This is a part of the result's JSON text."}`},
		{"not JSON", call.StoredResult{MIMEType: "text/plain", Data: []byte("a\n<b>\xff")}, Arguments{Offset: 1}, 300,
			`{"result":"\n<b>�","truncated":false,"kept":5,"total":6,"unit":"characters","offset":1}`},
		{"jq", kept(rows), Arguments{JQ: ".rows | map(.id) | add"}, 300,
			`{"result":435,"truncated":false,"kept":1,"total":1,"unit":"items","offset":0}`},
		{"jq, several values", kept(rows), Arguments{JQ: ".rows[:3][].id", Offset: 1}, 300,
			`{"result":[1,2],"truncated":false,"kept":2,"total":3,"unit":"items","offset":1}`},
		{"jq keeps numbers", kept(`[9007199254740993, 1e400, 0.1]`), Arguments{JQ: ".[0]"}, 300,
			`{"result":9007199254740993,"truncated":false,"kept":1,"total":1,"unit":"items","offset":0}`},
		{"jq knows nothing else", kept(`1`), Arguments{JQ: "$ENV, env"}, 300,
			`{"result":[{},{}],"truncated":false,"kept":2,"total":2,"unit":"items","offset":0}`},
		{"large item", kept(`[` + rows + `]`), Arguments{}, 400,
			`{"result":[{"a":"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää","rows":[{"id":0,"t":"x"},` +
				`{"id":1,` +
				`"t":"x"},{"id":2,"t":"x"},{"id":3,"t":"x"},{"id":4,"t":"x"}]}],"truncated":false,"kept":1,"total":1,` +
				`"unit":"items","offset":0,"note":"This item has 667 bytes and is shortened. Read it with jq, for ` +
				`example .[0]"}`},
	} {
		got, failure := Read(t.Context(), test.from, test.ask, test.most)
		if failure != nil || string(got) != test.want || len(got) > test.most {
			t.Errorf("%s: %v, %d bytes\n%s, want\n%s", test.name, failure, len(got), got, test.want)
		}
	}
}

func TestReadRefusesWrongArguments(t *testing.T) {
	defer func(limit time.Duration) { jqTime = limit }(jqTime)
	jqTime = time.Minute
	for _, test := range []struct {
		name string
		ask  Arguments
		kind fault.Type
		says string
	}{
		{"both", Arguments{JQ: ".", ArrayPath: ".a"}, fault.TypeValidation, "Both jq and arrayPath"},
		{"behind the end", Arguments{Offset: 4}, fault.TypeValidation,
			"The offset 4 is beyond the end: there are 3 items"},
		{"nowhere", Arguments{ArrayPath: ".a"}, fault.TypePathNotFound, "nothing at .a"},
		{"syntax", Arguments{ArrayPath: "a"}, fault.TypeInvalidPathSyntax, "not a path"},
		{"jq syntax", Arguments{JQ: ".ä | }"}, fault.TypeValidation, `unexpected token "ä" at character 2`},
		{"jq syntax", Arguments{JQ: ".[0] | )"}, fault.TypeValidation, `unexpected token ")" at character 8`},
		{"jq end", Arguments{JQ: ".["}, fault.TypeValidation, `unexpected EOF at character 3`},
		{"jq function", Arguments{JQ: "nothing"}, fault.TypeValidation, "function not defined: nothing/0"},
		{"jq type", Arguments{JQ: ".a"}, fault.TypeValidation, "expected an object but got: array"},
		{"jq input", Arguments{JQ: "input"}, fault.TypeValidation, "not allowed"},
		{"jq module", Arguments{JQ: `import "a" as a; .`}, fault.TypeValidation, "cannot load module"},
		{"jq output", Arguments{JQ: `repeat("x" * 1000)`}, fault.TypeValidation, "gives more than"},
		{"jq memory", Arguments{JQ: `reduce range(30) as $i ("x" * 1000000; . + .)`}, fault.TypeValidation,
			"needs too much memory"},
		{"jq too long", Arguments{JQ: strings.Repeat(".|", 5000) + "."}, fault.TypeValidation, "at most 8192"},
	} {
		got, failure := Read(t.Context(), kept(`[1,2,3]`), test.ask, 1000)
		if failure == nil {
			t.Errorf("%s: %s", test.name, got)
		} else if failure.Code != fault.ValidationError || failure.Type != test.kind ||
			!strings.Contains(failure.Message, test.says) || failure.Hint == "" {
			t.Errorf("%s: %v (%s)", test.name, failure, failure.Type)
		}
	}
	jqTime = 50 * time.Millisecond
	if _, failure := Read(t.Context(), kept(`1`), Arguments{JQ: "last(repeat(1))"}, 100); failure == nil ||
		!strings.Contains(failure.Message, "it takes too long") {
		t.Error(failure)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, failure := Read(ended, kept(`1`), Arguments{JQ: "."}, 100); failure == nil ||
		failure.Code != fault.Cancelled {
		t.Error(failure)
	}
}

// FuzzRead follows nextOffset from the start to the end: the pieces put together are the whole.
func FuzzRead(f *testing.F) {
	f.Add([]byte(numbers(30, "x")), 200)
	f.Add([]byte(`"`+strings.Repeat(`ä\n\ud83d\ude00`, 100)+`"`), 200)
	f.Add([]byte(`{"a":`+numbers(30, "x")+`}`), 300)
	f.Fuzz(func(t *testing.T, doc []byte, most int) {
		if !json.Valid(doc) || !utf8.Valid(doc) || most < 150 || most > 1<<16 || len(doc) > 1<<16 {
			return
		}
		var whole []json.RawMessage
		text, isList, shortened := "", false, false
		for offset := 0; ; {
			raw, failure := Read(t.Context(), kept(string(doc)), Arguments{Offset: offset}, most)
			if failure != nil {
				if failure.Type != fault.TypeOutputTooLarge {
					t.Fatal(failure)
				}
				return
			}
			var p piece
			if err := json.Unmarshal(raw, &p); err != nil || len(raw) > most {
				t.Fatalf("%v: %d bytes: %s", err, len(raw), raw)
			}
			shortened = shortened || strings.Contains(p.Note, "shortened")
			if part, ok := rawjson.Items(p.Result); ok && p.Unit == ofItems {
				whole, isList = append(whole, part...), true
			} else {
				var s string
				_ = json.Unmarshal(p.Result, &s)
				text += s
			}
			if p.NextOffset == nil {
				break
			}
			if *p.NextOffset <= offset {
				t.Fatalf("from %d to %d", offset, *p.NextOffset)
			}
			offset = *p.NextOffset
		}
		if all, ok := rawjson.Items(doc); isList && ok && !shortened && fmt.Sprint(all) != fmt.Sprint(whole) {
			t.Fatalf("%s, want %s", whole, all)
		}
		if rest := json.RawMessage(strings.TrimSpace(string(doc))); !isList && rest[0] == '{' && text != "" &&
			text != string(doc) {
			t.Fatalf("%q, want %q", text, doc)
		}
	})
}

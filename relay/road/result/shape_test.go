package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// numbers is a list of n objects.
func numbers(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":%d,"t":%q}`, i, text)
	}
	return "[" + strings.TrimPrefix(b.String(), ",") + "]"
}

func TestLargeValueIsCut(t *testing.T) {
	long := strings.Repeat("äöü€😀", 400)
	tests := []struct {
		name, doc string
		wish      Request
		want      string // of the envelope without its result
		inside    string // beginning of the result
	}{
		{"list", numbers(100, "x"), Request{MaxBytes: 500, ID: "i1"},
			`{"result":R,"truncated":true,"kept":14,"total":100,"unit":"items","nextOffset":14,"bytes":1791,` +
				`"id":"i1",` +
				`"uri":"result://i1","more":{"tool":"relay__read_result","arguments":{"id":"i1","offset":14}}}`,
			`[{"id":0,`},
		{"list inside", `{"a":1,"data":{"rows":` + numbers(100, "x") + `,"b":[1,2]}}`, Request{MaxBytes: 600, ID: "i1"},
			`{"result":R,"truncated":true,"kept":15,"total":100,"unit":"items","arrayPath":".data.rows",` +
				`"nextOffset":15,` +
				`"bytes":1825,"id":"i1","uri":"result://i1","more":{"tool":"relay__read_result",` +
				`"arguments":{"id":"i1",` +
				`"arrayPath":".data.rows","offset":15}}}`, `{"a":1,"data":{"rows":[{"id":0,`},
		{"caller's list", `{"small":` + numbers(50, "x") + `,"large":` + numbers(20, "x") + `}`,
			Request{MaxBytes: 800, Path: ".small"},
			`{"result":R,"truncated":true,"kept":15,"total":50,"unit":"items","arrayPath":".small","nextOffset":15,` +
				`"bytes":1261}`, `{"small":[{"id":0,`},
		{"tool's list", `{"small":` + numbers(50, "x") + `,"large":` + numbers(20, "x") + `}`,
			Request{MaxBytes: 1200, Declared: ".large"},
			`{"result":R,"truncated":true,"kept":7,"total":20,"unit":"items","arrayPath":".large","nextOffset":7,` +
				`"bytes":1261}`,
			`{"small":[{"id":0,`},
		{"tool's list is not there", numbers(100, "x"), Request{MaxBytes: 300, Declared: ".rows"},
			`{"result":R,"truncated":true,"kept":9,"total":100,"unit":"items","nextOffset":9,"bytes":1791}`,
			`[{"id":0,`},
		{"no path leads there", `[{"x y":` + numbers(100, "x") + `}]`, Request{MaxBytes: 500, ID: "i1"},
			`{"result":R,"truncated":true,"kept":12,"total":100,"unit":"items","nextOffset":12,"bytes":1801,` +
				`"id":"i1",` +
				`"uri":"result://i1","more":{"tool":"relay__read_result","arguments":{"id":"i1","jq":".[0][\"x y\"]",` +
				`"offset":12}}}`, `[{"x y":[{"id":0`},
		{"text", `"` + long + `"`, Request{MaxBytes: 400, ID: "i1"},
			`{"result":R,"truncated":true,"kept":43,"total":2000,"unit":"characters","nextOffset":43,"bytes":5202,` +
				`"id":"i1",` +
				`"uri":"result://i1","more":{"tool":"relay__read_result","arguments":{"id":"i1","offset":43}}}`,
			`"äöü€😀`},
		{"text inside", `{"title":"T","body":"` + long + `"}`, Request{MaxBytes: 500, ID: "i1"},
			`{"result":R,"truncated":true,"kept":58,"total":2000,"unit":"characters","arrayPath":".body",` +
				`"nextOffset":58,` +
				`"bytes":5223,"id":"i1","uri":"result://i1","more":{"tool":"relay__read_result",` +
				`"arguments":{"id":"i1",` +
				`"arrayPath":".body","offset":58}}}`, `{"title":"T","body":"äöü€😀`},
		{"texts in a list", numbers(5, long), Request{MaxBytes: 1000},
			`{"result":R,"truncated":true,"kept":240,"total":10000,"unit":"characters","bytes":26081}`,
			`[{"id":0,"t":"äöü`},
		{"everything", `{"a":` + numbers(50, "x") + `,"b":` + numbers(50, "x") + `,"c":` + numbers(50, "x") + `}`,
			Request{MaxBytes: 600, ID: "i1"},
			`{"result":R,"truncated":true,"kept":325,"total":2689,"unit":"bytes","bytes":2689,"id":"i1",` +
				`"uri":"result://i1",` +
				`"more":{"tool":"relay__read_result","arguments":{"id":"i1"}}}`, `{"a":[{"id":0`},
		{"a tool that pages texts", `{"title":"T","text":"` + long + `","totalChars":9000,"nextOffset":2000}`,
			Request{MaxBytes: 700, ID: "i1"},
			`{"result":R,"truncated":true,"kept":63,"total":2000,"unit":"characters","arrayPath":".text",` +
				`"nextOffset":63,` +
				`"bytes":5259,"id":"i1","uri":"result://i1","more":{"tool":"relay__read_result",` +
				`"arguments":{"id":"i1",` +
				`"arrayPath":".text","offset":63}},"withheld":{".nextOffset":2000}}`, `{"title":"T","text":"äöü€😀`},
		{"a tool that pages lists", `{"data":{"rows":` + numbers(100, "x") +
			`,"meta":{"Next_Cursor":"c","has-more":true,"next":null,"more":["x"]}},"next":{"url":"u"}}`,
			Request{MaxBytes: 800, ID: "i1"},
			`{"result":R,"truncated":true,"kept":11,"total":100,"unit":"items","arrayPath":".data.rows",` +
				`"nextOffset":11,` +
				`"bytes":1896,"id":"i1","uri":"result://i1","more":{"tool":"relay__read_result",` +
				`"arguments":{"id":"i1",` +
				`"arrayPath":".data.rows","offset":11}},"withheld":{".data.meta.Next_Cursor":"c",` +
				`".data.meta[\"has-more\"]":true,` +
				`".next":{"url":"u"}}}`, `{"data":{"rows":[{"id":0,`},
		{"paging of items is theirs", `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"next":1,"t":"xxxxxxxxxx"},`,
			50),
			",") + `],"hasMore":false}`, Request{MaxBytes: 600},
			`{"result":R,"truncated":true,"kept":9,"total":50,"unit":"items","arrayPath":".items","nextOffset":9,` +
				`"bytes":1427,` +
				`"withheld":{".hasMore":false}}`, `{"items":[{"next":1,`},
		{"paging around the cut", `[{"comments":` + numbers(100, "x") + `,"nextCursor":"c"},{"nextCursor":"d"}]`,
			Request{MaxBytes: 700, Declared: ".none"},
			`{"result":R,"truncated":true,"kept":20,"total":100,"unit":"items","nextOffset":20,"bytes":1842,` +
				`"withheld":{".[0].nextCursor":"c"}}`, `[{"comments":[{"id":0`},
		{"little room", numbers(100, "x"), Request{MaxBytes: 200, ID: "i1"},
			`{"result":R,"truncated":true,"kept":4,"total":100,"nextOffset":4,"id":"i1"}`, `[{"id":0`},
		{"caller's list without room", `{"rows":` + numbers(100, strings.Repeat("x", 300)) + `}`,
			Request{MaxBytes: 200, Path: ".rows"},
			`{"result":R,"truncated":true,"kept":0,"total":100,"unit":"items","arrayPath":".rows","nextOffset":0,` +
				`"bytes":31700}`,
			`{"rows":[]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !json.Valid([]byte(test.doc)) {
				t.Fatal("the test is wrong")
			}
			s, failure := Shape(json.RawMessage(test.doc), test.wish)
			if failure != nil {
				t.Fatal(failure)
			}
			checkShaped(t, json.RawMessage(test.doc), test.wish, s)
			if got := strings.Replace(string(s.Text), string(s.Value), "R", 1); got != test.want {
				t.Errorf("envelope\n%s, want\n%s", got, test.want)
			}
			if !strings.HasPrefix(string(s.Value), test.inside) {
				t.Errorf("the value is %.200s", s.Value)
			}
		})
	}
}

// checkShaped is what is true of every value that was made smaller.
func checkShaped(t *testing.T, doc json.RawMessage, w Request, s *Shaped) {
	t.Helper()
	if size := len(s.Text) + len(s.Warning) + w.Others; size > w.MaxBytes {
		t.Errorf("%d bytes are read, and %d allowed", size, w.MaxBytes)
	}
	var e struct {
		Result      json.RawMessage
		Truncated   bool
		Kept, Total *int
	}
	if err := json.Unmarshal(s.Text, &e); err != nil || !json.Valid(s.Value) {
		t.Fatalf("not JSON (%v): %s", err, s.Text)
	}
	if !e.Truncated || e.Kept == nil || e.Total == nil || *e.Kept > *e.Total {
		t.Errorf("kept %v of %v", e.Kept, e.Total)
	}
	var whole, part any
	if json.Unmarshal(doc, &whole) != nil || json.Unmarshal(s.Value, &part) != nil {
		return // a number outside of every range
	}
	if !jsontext.Value(doc).IsValid(jsontext.AllowInvalidUTF8(true)) {
		return // an object repeats a name, so that what a decoder takes for its member depends on what is left out
	}
	if !isPart(whole, part) {
		t.Errorf("%s is not a part of %s", s.Value, doc)
	}
}

// isPart reports whether one value is the other, but for ends of lists and texts, and members, that are missing.
func isPart(whole, part any) bool {
	switch whole := whole.(type) {
	case []any:
		some, ok := part.([]any)
		if !ok || len(some) > len(whole) {
			return part == nil // too deep
		}
		for i := range some {
			if !isPart(whole[i], some[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		some, ok := part.(map[string]any)
		if !ok {
			return part == nil
		}
		for name, value := range some {
			if member, ok := whole[name]; !ok || !isPart(member, value) {
				return false
			}
		}
		return true
	case string:
		some, ok := part.(string)
		beginning, _, _ := strings.Cut(some, "… (+")
		return ok && (some == whole || strings.HasPrefix(whole, beginning))
	}
	return reflect.DeepEqual(whole, part)
}

func TestImpossibleCutIsRefused(t *testing.T) {
	doc := `{"rows":` + numbers(100, "x") + `,"title":"T"}`
	for _, test := range []struct {
		name string
		wish Request
		code fault.Code
		kind fault.Type
		says string
	}{
		{"syntax", Request{Path: "rows"}, fault.ValidationError, fault.TypeInvalidPathSyntax, `"rows" is not a path`},
		{"syntax", Request{Path: ".rows[0]"}, fault.ValidationError, fault.TypeInvalidPathSyntax, "not a path"},
		{"nowhere", Request{Path: ".data.rows"}, fault.ValidationError, fault.TypePathNotFound, "nothing at .data"},
		{"no list", Request{Path: ".title"}, fault.ValidationError, fault.TypeInvalidArrayPath, ".title is not a list"},
		{"no room", Request{Path: ".rows", MaxBytes: 40}, fault.OutputTooLarge, fault.TypeOutputTooLarge,
			"cannot be shortened"},
		{"schema", Request{MaxBytes: 500, Fits: func(_, _ json.RawMessage) bool { return false }}, fault.OutputTooLarge,
			fault.TypeOutputTooLarge, "output schema"},
	} {
		s, failure := Shape(json.RawMessage(doc), test.wish)
		if failure == nil {
			t.Errorf("%s: became %s", test.name, s.Text)
			continue
		}
		if failure.Code != test.code || failure.Type != test.kind || !strings.Contains(failure.Message, test.says) {
			t.Errorf("%s: %v (%s)", test.name, failure, failure.Type)
		}
	}
}

// The schema decides between the ways to make a value smaller.
func TestCutValueFitsTheSchema(t *testing.T) {
	doc := json.RawMessage(`{"rows":` + numbers(20, strings.Repeat("x", 300)) + `}`)
	twenty := func(v, _ json.RawMessage) bool {
		rows, failure := get(v, way(".rows"))
		all, _ := rawjson.Items(rows)
		return failure == nil && len(all) == 20
	}
	s, failure := Shape(doc, Request{MaxBytes: 3000, Fits: twenty})
	if failure != nil || !twenty(s.Value, nil) || !strings.Contains(string(s.Text), `"unit":"characters"`) {
		t.Errorf("%v %v", s, failure)
	}
}

// Characters are never torn, however they are written.
func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, test := range []struct {
		text      string
		most      int
		end, kept int
	}{
		{"abc", 2, 2, 2}, {"aä", 2, 1, 1}, {"€", 2, 0, 0}, {`\n\n`, 3, 2, 1}, {`\\\"`, 3, 2, 1}, {`\u00e4x`, 6, 6, 1},
		{`\ud83d\ude00x`, 11, 0, 0}, {`\uD83D\uDE00x`, 12, 12, 1}, {`\ud83dx`, 7, 7, 2}, {`\ud83d\n`, 8, 8, 2},
		{"\xff\xffa", 2, 2, 2},
		{`äöü€😀 and more than eight bytes\n of äöü€😀ÿ`, 3, 2, 1},
	} {
		if end, kept := prefix([]byte(test.text), test.most); end != test.end || kept != test.kept {
			t.Errorf("%q in %d bytes: %d bytes, %d characters", test.text, test.most, end, kept)
		}
		all := 0
		for i := 0; i < len(test.text); all++ {
			i = character([]byte(test.text), i)
		}
		if got := characters([]byte(test.text)); got != all {
			t.Errorf("%q: %d characters, want %d", test.text, got, all)
		}
	}
}

func TestPathsLeadToTheLastOfANameAndBack(t *testing.T) {
	doc := json.RawMessage(`{"a":{"b":[1,{"c d":2}]},"a":{"b":[3]}}`)
	value, failure := get(doc, way(".a.b"))
	if failure != nil || string(value) != "[3]" {
		t.Errorf("%s %v", value, failure)
	}
	if got := put(doc, way(".a.b"), json.RawMessage("0")); string(got) != `{"a":{"b":[1,{"c d":2}]},"a":{"b":0}}` {
		t.Errorf("%s", got)
	}
	lists, _ := survey(json.RawMessage(`[[[1,2,3]],{"x":{"y z":[4,5,6,7]}}]`), 0)
	var found []string
	for _, l := range lists {
		found = append(found, fmt.Sprint(query(l.steps), " ", l.size))
	}
	if diff := cmp.Diff([]string{". 35", `.[1].x["y z"] 9`, ".[0] 9", ".[0][0] 7"}, found); diff != "" {
		t.Error(diff)
	}
}

// FuzzShape makes anything smaller, to any size.
func FuzzShape(f *testing.F) {
	for _, seed := range []string{`[]`, `"` + strings.Repeat("ä", 200) + `"`, numbers(30, "x"),
		`{"a":{"b":[[1,2,3],[4,5,6]]},"c":"` + strings.Repeat(`\ud83d\ude00`, 40) + `"}`, `{"a":[1],"a":[2]}`,
		strings.Repeat("[", 300) + strings.Repeat("]", 300), ` [ 1 , { "x" : [ ] } ] `} {
		f.Add([]byte(seed), 300, "")
		f.Add([]byte(seed), 90, ".a.b")
	}
	f.Fuzz(func(t *testing.T, doc []byte, size int, path string) {
		if !json.Valid(doc) || size < 0 || size > 1<<16 {
			return
		}
		w := Request{MaxBytes: size, ID: "0123456789abcdef0123456789abcdef", Path: path}
		s, failure := Shape(doc, w)
		if failure != nil {
			if failure.Code != fault.OutputTooLarge && failure.Code != fault.ValidationError {
				t.Error(failure)
			}
			return
		}
		checkShaped(t, bytes.ToValidUTF8(doc, []byte("\uFFFD")), w, s)
	})
}

func BenchmarkShape(b *testing.B) {
	for name, doc := range map[string]string{
		"list": `{"data":{"rows":` + numbers(200_000, strings.Repeat("x", 30)) + `}}`,
		"text": `{"body":"` + strings.Repeat("äöü", 1_600_000) + `"}`,
		"wide": `{"a":` + numbers(100_000, strings.Repeat("x", 30)) + `,"b":` +
			numbers(100_000, strings.Repeat("x", 30)) +
			`}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if _, failure := Shape(json.RawMessage(doc), Request{MaxBytes: 100 << 10, ID: "x"}); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}

// An object with many members fills most of the room, as a list would.
func TestShrinkFillsTheBudget(t *testing.T) {
	doc := []byte(`{"a0":0`)
	for i := range 50_000 {
		doc = fmt.Appendf(doc, `,"k%d":%d`, i, i)
	}
	doc = append(doc, '}')
	for _, budget := range []int{1000, 10_000, 100_000} {
		if small, ok := shrink(doc, budget, false); !ok || len(small.value) > budget ||
			len(small.value) < budget*8/10 ||
			!json.Valid(small.value) {
			t.Errorf("%d bytes of %d are used", len(small.value), budget)
		}
	}
}

// The examples of docs/results.md are what comes out of a list of 400 issues.
func TestDocumentedExamplesAreReal(t *testing.T) {
	text, err := os.ReadFile("../../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(text), "```") {
		if code, ok := strings.CutPrefix(part, "json\n"); ok && i%2 == 1 {
			blocks = append(blocks, code)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	var issues []string
	for i := 1; i <= 400; i++ {
		issues = append(issues, fmt.Sprintf(`{"id":%d,"title":"Issue %d","open":%v}`, i, i, i%100 == 0))
	}
	doc := json.RawMessage(`{"query":"cup","items":[` + strings.Join(issues, ",") + `]}`)
	const id = "8f0c1d5e7a3b49d2a6c4e1f09b7d3852"
	s, failure := Shape(doc, Request{MaxBytes: 560, ID: id})
	if failure != nil {
		t.Fatal(failure)
	}
	read, failure := Read(t.Context(), call.StoredResult{ID: id, MIMEType: "application/json", Data: doc},
		Arguments{ID: id, JQ: "[.items[] | select(.open) | .id]"}, 480)
	if failure != nil {
		t.Fatal(failure)
	}
	for i, want := range []json.RawMessage{s.Text, read} {
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(blocks[i])); err != nil || got.String() != string(want) {
			t.Errorf("example %d: %v\n%s, and it is\n%s", i+1, err, got.String(), want)
		}
	}
}

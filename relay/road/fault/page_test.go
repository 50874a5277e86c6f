package fault

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected texts under testdata")

// TestPageErrorIsValidated reads what a page threw from testdata/page and compares the texts and repairs that come of
// it.
func TestPageErrorIsValidated(t *testing.T) {
	files, err := filepath.Glob("testdata/page/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			thrown := txtar.Parse(old).Files[0].Data
			got := renderPage(t, thrown)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(old), string(got)); diff != "" && !*update {
				t.Errorf("(-want +got; -update accepts it)\n%s", diff)
			}
		})
	}
}

func renderPage(t *testing.T, thrown []byte) []byte {
	t.Helper()
	e, repairs := FromPage(bytes.TrimSpace(thrown))
	texts := e.Text()
	return txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "thrown.json", Data: thrown},
		{Name: "text", Data: []byte(texts[0] + "\n")},
		{Name: "truth", Data: []byte(texts[1] + "\n")},
		{Name: "repairs", Data: []byte(strings.Join(append(repairs, ""), "\n"))},
	}})
}

func TestPageErrorGetsSourceAndType(t *testing.T) {
	tests := []struct {
		thrown string
		source Source
		kind   Type
		number int
	}{
		{`{"code":"A","category":"auth","message":"m"}`, SourceAuth, TypePermissionDenied, -32003},
		{`{"code":"A","category":"rate_limit","message":"m"}`, SourceUpstream, TypeNetwork, -32002},
		{`{"code":"A","category":"not_found","message":"m"}`, SourceUpstream, TypeNotFound, -32002},
		{`{"code":"A","category":"validation","message":"m"}`, SourceUpstream, TypeValidation, -32002},
		{`{"code":"A","category":"internal","message":"m"}`, SourceUpstream, TypeInternal, -32002},
		{`{"code":"A","category":"timeout","message":"m"}`, SourceUpstream, TypeTimeout, -32002},
		{`{"code":"A","message":"m"}`, SourceUpstream, "", -32002},
		// a page's code means nothing to the relay
		{`{"code":"PAIRING_FAILED","message":"m"}`, SourceUpstream, "", -32002},
	}
	for _, test := range tests {
		e, repairs := FromPage(json.RawMessage(test.thrown))
		if e.Source != test.source || e.Type != test.kind || e.RPCCode != test.number || e.Class != Tool ||
			!e.FromPage ||
			len(repairs) > 0 {
			t.Errorf("%s became %+v, repairs %q", test.thrown, e, repairs)
		}
	}
}

func TestLongPageErrorIsCut(t *testing.T) {
	thrown, err := json.Marshal(map[string]any{"code": "FOO", "retryable": false,
		"message": strings.Repeat("é\n", 1<<19)})
	if err != nil {
		t.Fatal(err)
	}
	e, repairs := FromPage(thrown)
	if len(e.Message) > maxMessageBytes || !strings.HasSuffix(e.Message, "é…") && !strings.HasSuffix(e.Message, " …") ||
		len(repairs) != 1 {
		t.Errorf("a message of 1 MiB has %d bytes and ends with %q; repairs %q", len(e.Message),
			e.Message[len(e.Message)-8:],
			repairs)
	}
}

// What the page has cut before is told with the size that it had.
func TestSizeOfAMessageThatThePageCut(t *testing.T) {
	for bytes, want := range map[string]string{`10000000`: "10000000", `7`: "24576", `"x"`: "24576", `1e99`: "24576",
		`-1`: "24576", `null`: "24576"} {
		_, repairs := FromPage(json.RawMessage(`{"code":"FOO","retryable":false,"messageBytes":` + bytes +
			`,"message":"` + strings.Repeat("x", 24576) + `"}`))
		if want := "message of " + want + " bytes was cut: at most 8192 are passed on"; len(repairs) != 1 ||
			repairs[0] != want {
			t.Errorf("%s: %q, want %q", bytes, repairs, want)
		}
	}
}

// FuzzFromPage holds up the invariants of the text whatever bytes a page sends.
func FuzzFromPage(f *testing.F) {
	files, err := filepath.Glob("testdata/page/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("{\"code\":\"A\",\"message\":\"\xff\xed\xa0\x80``\\u0000`json\\n[ERROR \"}"))
	f.Fuzz(func(t *testing.T, thrown []byte) {
		e, _ := FromPage(thrown)
		holds(t, e)
		if err := compiled().Validate(decoded(t, e)); err != nil {
			t.Errorf("what was believed does not satisfy the schema: %v", err)
		}
	})
}

// decoded gives the validated fields as a page would send them.
func decoded(t *testing.T, e *Error) any {
	t.Helper()
	fields := map[string]any{"code": string(e.Code), "retryable": e.Retryable, "message": e.Message,
		"outcome": string(e.Outcome)}
	if e.Category != "" {
		fields["category"] = string(e.Category)
	}
	if e.RetryAfterMs != nil {
		fields["retryAfterMs"] = *e.RetryAfterMs
	}
	return fields
}

// holds checks the invariants of the first text item, and that parsing it gives the same fields back.
func holds(t *testing.T, e *Error) {
	t.Helper()
	text := e.Text()[0]
	lines := strings.FieldsFunc(text, func(r rune) bool { return isBreak(r) || r == '\v' || r == '\f' })
	for i, line := range lines {
		if strings.HasPrefix(line, headerStart) != (i == 0) {
			t.Errorf("line %d of %q", i, text)
		}
	}
	if strings.Count(text, fence) != 2 || !strings.HasSuffix(text, "\n"+fence) {
		t.Errorf("not exactly one fenced block at the end of %q", text)
	}
	_, tail, _ := strings.Cut(text, fence+"json\n")
	var fields block
	if err := json.Unmarshal([]byte(strings.TrimSuffix(tail, fence)), &fields); err != nil {
		t.Fatalf("the block does not parse: %v\n%s", err, text)
	}
	if diff := cmp.Diff(e.block(), fields); diff != "" {
		t.Errorf("the block differs from the fields (-want +got):\n%s", diff)
	}
	back, err := parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(e.block(), back.block()); diff != "" || back.Message != e.Message ||
		back.FromPage != e.FromPage {
		t.Errorf("parsing gave other fields (-want +got), message %q for %q:\n%s", back.Message, e.Message, diff)
	}
	if again := back.Text()[0]; again != text {
		t.Errorf("rendering what was parsed:\n%s\nwant\n%s", again, text)
	}
}

func TestTraceLineIsAPlaceInAPage(t *testing.T) {
	for line, keep := range map[string]bool{
		"/adapters/demo-1a.js:12:34":            true,
		"/:1:2":                                 true,
		"/a%20b/x.js:1:2":                       true,
		"/static/app.js?token=geheim:1:2":       false,
		"/static/app.js#x:1:2":                  false,
		"/static/app.js":                        false,
		"/static/app.js:1":                      false,
		"https://app.example/a.js:1:2":          false,
		"/home/me/work/a.js:1:2":                false,
		"//home/me/a.js:1:2":                    false,
		"/Users/me/a.js:1:2":                    false,
		"/C:/Users/me/a.js:1:2":                 false,
		"C:\\Users\\me\\a.js:1:2":               false,
		"/a b.js:1:2":                           false,
		"/a.js:1:2\n[ERROR code=X] y":           false,
		"/" + strings.Repeat("a", 400) + ":1:2": false,
	} {
		raw, err := json.Marshal(map[string]any{"code": "X", "message": "m", "retryable": false, "traceLine": line})
		if err != nil {
			t.Fatal(err)
		}
		e, repairs := FromPage(raw)
		if got := e.TraceLine == line; got != keep || len(repairs) == 0 != keep || e.Message != "m" {
			t.Errorf("%q became %q, repairs %v", line, e.TraceLine, repairs)
		}
	}
	for _, raw := range []string{`{"code":"X","message":"m","retryable":false,"traceLine":7}`,
		`{"code":"X","message":"m","retryable":false,"traceLine":{}}`} {
		if e, repairs := FromPage(json.RawMessage(raw)); e.TraceLine != "" || len(repairs) != 1 {
			t.Errorf("%s: %q, repairs %v", raw, e.TraceLine, repairs)
		}
	}
	if e,
		repairs := FromPage(json.RawMessage(`{"code":"X","message":"m","retryable":false,` +
		`"traceLine":null}`)); e.TraceLine != "" || len(repairs) != 0 {
		t.Errorf("null: %q, repairs %v", e.TraceLine, repairs)
	}
}

// Where in its plugin's file an error came from is for the plugin's author: no client is told.
func TestPlacesAreForAuthorsOnly(t *testing.T) {
	places := `["/adapters/tea-0123456789ab.js:1:605","/home/me/a.js:1:1","no place"` +
		strings.Repeat(`,"/adapters/tea-0123456789ab.js:1:7"`, 20) + `]`
	e, repairs := FromPage(json.RawMessage(`{"code":"X","message":"m","category":"internal","retryable":false,` +
		`"places":` + places + `}`))
	if len(e.Places) != 8 || e.Places[0] != "/adapters/tea-0123456789ab.js:1:605" || len(repairs) != 0 {
		t.Errorf("%q, repairs %v", e.Places, repairs)
	}
	if raw, err := json.Marshal(e); err != nil || strings.Contains(string(raw), "adapters") {
		t.Errorf("%s %v", raw, err)
	}
}

// Package faulttest holds tests to the table of situations. A test that provokes a situation says so through Provoked
// or Answered, which check what came out of it against the table; relay/situations_test.go reads the sources of all
// tests and fails for a situation that none of them provokes. The id of the situation is written out in the test
// function, so that it can be found there.
package faulttest

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

// firstOfSpec and lastOfSpec bound the numbers that MCP 2026-07-28 gives a meaning and a form of its own.
const firstOfSpec, lastOfSpec = -32020, -32099

// Provoked fails the test unless a failure is what the table says about a situation.
func Provoked(t testing.TB, id string, got *fault.Error) {
	t.Helper()
	s, row := look(t, id)
	if got == nil {
		t.Errorf("%s: there was no failure, want %s", id, s.Code)
		return
	}
	object, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	check(t, s, row, object)
	if s.Layer == situation.InProtocol && (got.ProtocolNumber(false) != s.Number(false) ||
		got.ProtocolNumber(true) != s.Number(true)) {
		t.Errorf("%s: the numbers are %d and %d, want %d and %d", id, got.ProtocolNumber(false),
			got.ProtocolNumber(true),
			s.Number(false), s.Number(true))
	}
}

// Answered fails the test unless a JSON-RPC response, as a client got it, is what the table says about a situation.
// modern says which era the request was of.
func Answered(t testing.TB, id string, response []byte, modern bool) {
	t.Helper()
	s, row := look(t, id)
	var got struct {
		Error *struct {
			Code json.RawMessage
			Data json.RawMessage
		}
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Meta    map[string]json.RawMessage `json:"_meta"`
		}
	}
	if err := json.Unmarshal(response, &got); err != nil {
		t.Errorf("%s: the answer is not a response: %.200s", id, response)
		return
	}
	switch {
	case s.Layer == situation.InProtocol && got.Error == nil, s.Layer == situation.InResult && !got.Result.IsError:
		t.Errorf("%s: the answer is not a %s: %.300s", id, s.Layer, response)
	case s.Layer == situation.InHTTP:
		var object struct{ Error json.RawMessage }
		if err := json.Unmarshal(response, &object); err != nil {
			t.Fatal(err)
		}
		check(t, s, row, object.Error)
	case got.Error != nil:
		if number := s.Number(modern); string(got.Error.Code) != strconv.Itoa(number) {
			t.Errorf("%s: the number is %s, want %d", id, got.Error.Code, number)
			// the data of the specification's own numbers is the specification's
		} else if number > firstOfSpec || number < lastOfSpec {
			check(t, s, row, got.Error.Data)
		}
	default:
		object := got.Result.Meta["tabrelay/error"]
		check(t, s, row, object)
		if text := got.Result.Content[0].Text; !says(text, s.Code) {
			t.Errorf("%s: the text does not say %s:\n%s", id, s.Code, text)
		}
	}
}

// rendered is the first text of a failure: its header, and the block at its end.
var rendered = regexp.MustCompile(`(?s)^\[ERROR code=(\S+)( category=\S+)? retryable=(true|false)[^\n]*\] .*` +
	"\n```json\n({[^\n]*})\n```$")

// says reports whether a text is that of a failure with a code, in its header as in its block.
func says(text string, code fault.Code) bool {
	parts := rendered.FindStringSubmatch(text)
	var block struct {
		Code      fault.Code
		Category  string
		Retryable bool
	}
	if parts == nil || json.Unmarshal([]byte(parts[4]), &block) != nil {
		return false
	}
	return parts[1] == string(code) && block.Code == code && parts[3] == strconv.FormatBool(block.Retryable) &&
		parts[2] == strings.TrimSuffix(" category="+block.Category, " category=")
}

func look(t testing.TB, id string) (situation.Situation, fault.Row) {
	t.Helper()
	s, ok := situation.Find(id)
	if !ok {
		t.Fatalf("there is no situation %q in relay/road/fault/situation/table.go", id)
	}
	row, ok := fault.Lookup(s.Code)
	if !ok {
		t.Fatalf("the situation %s has the code %s, which is not in the table", id, s.Code)
	}
	return s, row
}

// check compares an error object with a situation.
func check(t testing.TB, s situation.Situation, row fault.Row, object []byte) {
	t.Helper()
	var got fault.Error
	if err := json.Unmarshal(object, &got); err != nil {
		t.Errorf("%s: the error object cannot be read (%v): %.200s", s.ID, err, object)
		return
	}
	sent := got
	sent.Location = "" // where the client is to go
	shown, err := json.Marshal(&sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range Leaks(string(shown)) {
		t.Errorf("%s: the error object shows %s: %s", s.ID, leak, object)
	}
	class, kind := row.Class, row.Type
	if s.Types {
		kind = got.Type
	}
	if got.FromPage {
		class, kind = fault.Tool, got.Type // a page's error is the page's own, whatever its code
	}
	if got.Code != s.Code || got.Category != row.Category || got.Class != class || got.Type != kind ||
		got.Source != s.Source() {
		t.Errorf("%s: got %s %s %s %s %s, want %s %s %s %s %s", s.ID,
			got.Code, got.Category, got.Type, got.Source, got.Class, s.Code, row.Category, kind, s.Source(), class)
	}
	if got.RPCCode != s.Source().Number() {
		t.Errorf("%s: rpcCode is %d, want %d", s.ID, got.RPCCode, s.Source().Number())
	}
	if (s.Again == situation.Yes) != got.Retryable && (s.Again == situation.Yes || s.Again == situation.No) {
		t.Errorf("%s: retryable is %t, want %s", s.ID, got.Retryable, s.Again)
	}
	if s.Again == situation.IfNotStarted && got.Retryable != (got.Outcome == fault.NotExecuted) {
		t.Errorf("%s: retryable is %t with the outcome %s", s.ID, got.Retryable, got.Outcome)
	}
	if got.Message == "" || got.Hint == "" && !got.FromPage {
		t.Errorf("%s: message %q, hint %q: both are needed", s.ID, got.Message, got.Hint)
	}
}

// leaks are what no client may see. They are wider than what package fault removes, and written apart from it.
var leaks = map[string]*regexp.Regexp{
	"a home folder":          regexp.MustCompile(`(?:/home/|/Users/|/root/|[A-Za-z]:\\+Users)`),
	"a folder of the system": regexp.MustCompile(`(?:^|[\s"'(=])/(?:tmp|var|etc|opt|usr|private)/`),
	"a Windows path":         regexp.MustCompile(`\b[A-Za-z]:\\+\w`),
	"a file URL":             regexp.MustCompile(`file:/+[\w~]`),
	"a Go stack":             regexp.MustCompile(`goroutine \d+|\.go:\d+|\+0x[0-9a-f]{2,}`),
	"a JavaScript stack": regexp.MustCompile(`\bat [^\n]{0,` +
		`200}:\d+:\d+\)|chrome-extension://|@https?://\S+:\d+:\d+`),
	"a JWT":             regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]+\.`),
	"a bearer token":    regexp.MustCompile(`(?i)bearer\s+[\w.~+/=-]*\d[\w.~+/=-]{7,}`),
	"a key":             regexp.MustCompile(`\b(?:sk|ghp|glpat|xoxb)[-_]\w{16,}|\bAKIA[A-Z0-9]{16}`),
	"a secret in a URL": regexp.MustCompile(`(?i)[?&](?:access_token|token|key|sig|password|session)=[^&\s"\[]`),
	"a cookie":          regexp.MustCompile(`(?i)cookie:\s*\w+=`),
}

// Leaks names what a text shows that no client may see: stacks, folders of the machine, secrets.
func Leaks(text string) (found []string) {
	for name, shape := range leaks {
		if at := shape.FindString(text); at != "" {
			found = append(found, name+" ("+at+")")
		}
	}
	home, _ := os.UserHomeDir() // without one there is nothing to look for
	for _, dir := range []string{home, strings.TrimRight(os.TempDir(), "/")} {
		if len(dir) > 4 && strings.Contains(text, dir+"/") {
			found = append(found, "the folder "+dir)
		}
	}
	return found
}

package fault

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const aSession = "00112233445566778899aabbccddeeff"

// bridgeFailures are rendered into testdata/bridge.txtar, each for tasks_delegate and for the others.
var bridgeFailures = map[string]*Error{
	"rate limit": New(RateLimited, "Rate limit exceeded", WithSource(SourceUpstream), WithProvider("openai"),
		WithRetryAfter(2*time.Second), WithSession(aSession, true)),
	"schema":    New(ValidationError, "Invalid arguments: prompt: is missing", WithSource(SourceInternal)),
	"overload":  New(Overloaded, "Server overloaded", WithRetryAfter(time.Second)),
	"odd text":  New(ConfigError, "a\nb \u202e```", WithHint("one\n\ntwo <b>")),
	"no advice": New(notInTable, "x"),
}

func TestAgenticTextIsAsRecorded(t *testing.T) {
	var got txtar.Archive
	for _, name := range slices.Sorted(maps.Keys(bridgeFailures)) {
		e := bridgeFailures[name]
		for kind, text := range map[string]string{"": e.AgenticText(), ", task": e.TaskText()} {
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is no JSON: %s", name, text)
			}
			got.Files = append(got.Files, txtar.File{Name: name + kind, Data: []byte(text + "\n")})
		}
	}
	slices.SortFunc(got.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	text := txtar.Format(&got)
	if *update {
		if err := os.WriteFile("testdata/bridge.txtar", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/bridge.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("(-want +got; -update accepts it)\n%s", diff)
	}
}

// Whatever a failure says, its text is one JSON object whose data begins with what the relay knows.
func FuzzAgenticText(f *testing.F) {
	f.Add("Agent failed", "try again\nor not", `{"toolCalls":[]}`)
	f.Add("\x00\xff", "", `{"type":1,"type":2}`)
	f.Add("", "\u2028", `[1`)
	f.Fuzz(func(t *testing.T, message, hint, data string) {
		e := New(NotFoundCode, message, WithHint(hint), WithData(json.RawMessage(data)))
		for _, text := range []string{e.AgenticText(), e.TaskText()} {
			var read struct {
				Error string
				Code  int
				Data  struct {
					Type      Source
					Retryable *bool
				}
			}
			if err := json.Unmarshal([]byte(text), &read); err != nil || read.Error == "" || read.Code != -32002 ||
				read.Data.Type != SourceUpstream || read.Data.Retryable == nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
	})
}

func TestWithoutFolders(t *testing.T) {
	for text, want := range map[string]string{
		"cannot start /home/ann/bin/agent: no such file": "cannot start …/agent: no such file",
		`open "C:\Users\ann\key.txt"`:                    `open "…/key.txt"`,
		"a/b and 1/2 of https://example.org/a/b":         "a/b and 1/2 of https://example.org/a/b",
	} {
		if got := WithoutFolders(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

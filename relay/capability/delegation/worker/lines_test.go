package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestLinesThatAreNoMessageAreReported(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ name, text, want string }{
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, "id=1"},
		{"a notification", `{"method":"session/update","params":{}}`, "method=session/update"},
		{"blanks around it", "  {\"id\":1,\"result\":{}}\r", "id=1"},
		{"no JSON", "Welcome!", "it is not a message"},
		{"a number", "7", "it is not a message"},
		{"an array", `[{"id":1}]`, "it is not a message"},
		{"neither", `{"jsonrpc":"2.0"}`, "it is not a message"},
		{"no id", `{"id":null,"error":{"code":-32700,"message":"x"}}`, "it is not a message"},
		{"an error without a form", `{"id":4,"error":"no"}`, "it is an answer without a form answers=4"},
		{"a method without a form", `{"id":4,"method":7}`, "it is not a message"},
		{"a long response", `{"id":12,"result":"` + long + `"}`, "it is longer than 10 MiB answers=12"},
		{"with its id last", `{"jsonrpc":"2.0","result":"` + long + `", "id": 12 }`,
			"it is longer than 10 MiB answers=12"},
		{"a long notification", `{"method":"x","id":12,"params":"` + long + `"}`, "it is longer than 10 MiB"},
		{"long and no JSON", long + long, "it is longer than 10 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			readLines(strings.NewReader("\n"+c.text+"\n\n{\"id\":99}"), func(l line) { got = append(got, sayLine(l)) })
			if len(got) != 2 || got[0] != c.want || got[1] != "id=99" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func sayLine(l line) string {
	m, answers, problem := l.read()
	if answers != "" {
		problem += " answers=" + answers
	}
	switch {
	case problem != "":
		return problem
	case m.ID != nil:
		return "id=" + string(*m.ID)
	}
	return "method=" + m.Method
}

// Whatever a program writes is read line by line, and what passes is what acp.Connection can read.
func FuzzLines(f *testing.F) {
	f.Add("{\"id\":1}\n{}\nx")
	f.Add("{\"id\":1,\"error\":{}}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 0
		readLines(strings.NewReader(text), func(l line) {
			lines++
			if m, _, problem := l.read(); problem == "" && m.ID == nil && m.Method == "" {
				t.Errorf("%q passed as a message", l.text)
			}
		})
		most := 0
		for one := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(one) != "" {
				most++
			}
		}
		if lines > most {
			t.Errorf("%d lines of %d", lines, most)
		}
	})
}

// An agent that was not written here: the example of the SDK.
func TestExampleAgentOfTheSDK(t *testing.T) {
	if testing.Short() {
		t.Skip("its turn takes six seconds")
	}
	binary := filepath.Join(t.TempDir(), "agent")
	build := exec.Command("go", "build", "-o", binary, "github.com/coder/acp-go-sdk/example/agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := New(Options{ID: "example", Command: binary, Folder: t.TempDir(), Protocol: Auto, Log: zerolog.Nop()})
	defer w.Close()
	s, failure := w.Open(t.Context(), Tools{Token: "tok", Command: os.Args[0]})
	if failure != nil {
		t.Fatal(failure)
	}
	defer s.Close()
	var asked []string
	turn := Turn{Text: "Improve it", Permit: func(_ context.Context, p Permission) bool {
		var arguments map[string]any
		_ = json.Unmarshal(p.Arguments, &arguments) // it is shown with the rest
		asked = append(asked, fmt.Sprint(p.Title, " ", p.Kind, " ", arguments["path"]))
		return true
	}}
	reply, failure := s.Prompt(t.Context(), turn)
	if failure != nil {
		t.Fatal(failure)
	}
	if reply.StopReason != "end_turn" || !strings.HasSuffix(reply.Text, "The changes have been applied.") {
		t.Errorf("reply %+v", reply)
	}
	const want = "[Modifying critical configuration file edit /home/user/project/config.json]"
	if fmt.Sprint(asked) != want {
		t.Errorf("asked %v", asked)
	}
}

package worker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// lab is a worker whose program is the test binary.
type lab struct {
	*Worker
	t       *testing.T
	corrupt atomic.Int64
}

func newLab(t *testing.T, mode string, protocol Protocol, env ...string) *lab {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t}
	variables := map[string]string{modeVariable: mode, "GORACE": os.Getenv("GORACE")}
	for i := 0; i < len(env); i += 2 {
		variables[env[i]] = env[i+1]
	}
	l.Worker = New(Options{ID: "tester", Command: binary, Env: variables, Protocol: protocol, Version: "1.2.3",
		Folder: filepath.Join(t.TempDir(), "workers", "tester"), Corrupt: func() { l.corrupt.Add(1) },
		Log: zerolog.Nop()})
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		l.Close()
		for range 1000 { // those that are about to end
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
			<-time.After(time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		t.Errorf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
	})
	return l
}

func (l *lab) open(tools Tools) *Session {
	l.t.Helper()
	s, failure := l.Open(l.t.Context(), tools)
	if failure != nil {
		l.t.Fatal(failure)
	}
	return s
}

func (l *lab) prompt(s *Session, text string) Reply {
	l.t.Helper()
	reply, failure := s.Prompt(l.t.Context(), Turn{Text: text})
	if failure != nil {
		l.t.Fatal(failure, string(failure.Data))
	}
	return reply
}

func TestTurnOfTheAgentClientProtocol(t *testing.T) {
	l := newLab(t, "acp", Auto)
	s := l.open(Tools{})
	defer s.Close()
	var steps []string
	reply, failure := s.Prompt(t.Context(), Turn{Text: "hello",
		Tell: func(step string) { steps = append(steps, step) }})
	if failure != nil {
		t.Fatal(failure)
	}
	if reply.Text != "Let me look.\n\nYou said: hello" || reply.StopReason != "end_turn" ||
		*reply.Usage != (Usage{7, 3, 2}) {
		t.Errorf("reply %+v", reply)
	}
	if got := strings.Join(steps, "|"); !strings.HasPrefix("Plan: look|Reading (pending)|Reading (completed)", got) {
		t.Errorf("steps %q", got) // those that come with the answer may be left out
	}
	if reply = l.prompt(l.open(Tools{}), "second session"); !strings.HasSuffix(reply.Text, "second session") {
		t.Errorf("reply %+v", reply)
	}
}

// A program is told the trace of the call that prompts it, and nothing where there is none.
func TestTraceReachesTheProgram(t *testing.T) {
	s := newLab(t, "acp", Auto).open(Tools{})
	defer s.Close()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, want := range []string{`{"traceparent":"` + parent + `","tracestate":"a=1"}`, ""} {
		ctx := t.Context()
		if want != "" {
			ctx = call.WithTrace(ctx, call.ReadTrace(parent, "a=1"))
		}
		reply, failure := s.Prompt(ctx, Turn{Text: "trace"})
		if failure != nil || reply.Text != want {
			t.Errorf("the program was told %q, %v", reply.Text, failure)
		}
	}
}

// The seed's own workers, in the dialect that the seed speaks.
func TestStdiobusWorkersAnswerInTheirDialect(t *testing.T) {
	for _, c := range []struct {
		mode     string
		prompts  []string
		want     string
		protocol Protocol
	}{
		{"bus-echo", []string{"hi"}, "Echo: hi", Stdiobus},
		{"bus-echo", []string{"hi"}, "Echo: hi", Auto},
		{"bus-stateful", []string{"a", "b"}, "Echo[2]: b", Auto},
		{"bus-math", []string{"5 * 8"}, "Result: 40", Auto},
	} {
		t.Run(c.mode+" "+string(c.protocol), func(t *testing.T) {
			l := newLab(t, c.mode, c.protocol)
			s := l.open(Tools{Token: "unused"})
			var reply Reply
			for _, p := range c.prompts {
				reply = l.prompt(s, p)
			}
			if reply.Text != c.want || reply.StopReason != "end_turn" {
				t.Errorf("reply %+v", reply)
			}
			if c.mode == "bus-stateful" && (reply.RequestID != "r1" || *reply.Usage != (Usage{4, 5, 0})) {
				t.Errorf("reply %+v", reply)
			}
			s.Close()
		})
	}
}

func TestFailuresOfPrompts(t *testing.T) {
	for _, c := range []struct {
		name, mode, prompt, want string
		code                     fault.Code
		valid                    bool
	}{
		{"its own words", "bus-failing", "x", "reported: Intentional failure in …", codes.WorkerFailed, true},
		{"no text", "bus-malformed", `{"jsonrpc":"2.0","result":{"stopReason":"end_turn"},"id":`, "no text",
			codes.WorkerBadReply, true},
		{"wrong types", "bus-malformed", `{"jsonrpc":"2.0","result":{"text":7,"stopReason":"end_turn"},"id":`,
			"wrong types", codes.WorkerBadReply, true},
		{"no error", "bus-malformed", `{"jsonrpc":"2.0","error":"no","id":`, "not a JSON-RPC response",
			codes.WorkerBadReply, true},
		{"crash", "acp", "crash", "ended when it was working on the prompt: exit status 7", codes.WorkerFailed, false},
		{"closed output", "acp", "close output", "because it closed its output", codes.WorkerFailed, false},
		{"garbage", "acp", "garbage", "3 lines of its output could not be used", codes.WorkerFailed, false},
		{"long answer", "acp", "long answer", "longer than 10 MiB", codes.WorkerBadReply, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			place := t.TempDir()
			l := newLab(t, c.mode, Auto, "PLACE", place, "API_KEY", place)
			s := l.open(Tools{})
			_, failure := s.Prompt(t.Context(), Turn{Text: c.prompt})
			if failure == nil || failure.Code != c.code || !strings.Contains(failure.Message, c.want) &&
				!strings.Contains(strings.ReplaceAll(failure.Message, "[redacted]", "…"), c.want) {
				t.Fatalf("failure %+v", failure)
			}
			if failure.Outcome != fault.Unknown {
				t.Errorf("outcome %s", failure.Outcome)
			}
			if c.name == "crash" && !strings.Contains(string(failure.Data), "panic: out of ideas") {
				t.Errorf("data %s", failure.Data)
			}
			if valid := failure.SessionValid == nil; valid != c.valid {
				t.Errorf("session valid: %v", valid)
			}
			if _, failure = s.Prompt(t.Context(), Turn{Text: `{"jsonrpc":"2.0","id":`}); !c.valid && (failure == nil ||
				failure.Outcome != fault.NotExecuted || *failure.SessionValid) {
				t.Errorf("the session of a program that ended goes on: %v", failure)
			}
			l.open(Tools{}) // the program runs, or is started anew
		})
	}
}

func TestLinesThatCannotBeUsed(t *testing.T) {
	l := newLab(t, "garbage-at-start", ACP)
	s := l.open(Tools{})
	if reply := l.prompt(s, "long update"); reply.Text != "the rest" {
		t.Errorf("reply of %d bytes", len(reply.Text))
	}
	if got := l.corrupt.Load(); got != 2 {
		t.Errorf("%d lines were counted", got)
	}
	if reply := l.prompt(s, "burst"); len(reply.Text) != 3000 {
		t.Errorf("%d of 3000 updates were heard", len(reply.Text))
	}
}

func TestAnswerOfAProgramThatEndsAtOnce(t *testing.T) {
	l := newLab(t, "acp", ACP)
	for range 5 {
		if reply := l.prompt(l.open(Tools{}), "last words"); reply.Text != "done" {
			t.Errorf("reply %+v", reply)
		}
	}
}

func TestProgramsThatDoNotStart(t *testing.T) {
	for _, c := range []struct{ mode, want string }{
		{"version-2", "speaks version 2 of the Agent Client Protocol, and tabrelay version 1"},
		{"noisy", "did not say what it speaks: it ended (exit status 3)"},
		{"no-session", "no sessionId"},
		{"", "no such program"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			place := t.TempDir()
			l := newLab(t, c.mode, ACP, "MY_TOKEN", "s3cr3t-value", "PLACE", place)
			if c.mode == "" {
				l.options.Command = filepath.Join(place, "nothing")
			}
			_, failure := l.Open(t.Context(), Tools{})
			if failure == nil || !strings.Contains(failure.Message, c.want) {
				t.Fatalf("failure %v", failure)
			}
			if code := codes.WorkerStartFailed; c.mode != "no-session" && (failure.Code != code || failure.Retryable) {
				t.Errorf("failure %+v", failure)
			}
			if c.mode == "noisy" && !strings.Contains(string(failure.Data), "the last words") {
				t.Errorf("data %s", failure.Data)
			}
			text, _ := json.Marshal(failure)
			for _, private := range []string{"s3cr3t-value", place} {
				if strings.Contains(string(text), private) {
					t.Errorf("%q is in %s", private, text)
				}
			}
		})
	}
}

func TestRestartsAreBounded(t *testing.T) {
	l := newLab(t, "acp", ACP)
	for i := range 1 + maxRestarts {
		s := l.open(Tools{})
		if _, failure := s.Prompt(t.Context(), Turn{Text: "crash"}); failure == nil {
			t.Fatalf("start %d did not crash", i)
		}
	}
	_, failure := l.Open(t.Context(), Tools{})
	if failure == nil || failure.Code != codes.WorkerStartFailed || failure.RetryAfterMs == nil {
		t.Fatalf("failure %+v", failure)
	}
	if held := l.Held(); held <= 0 || held > restartTime {
		t.Errorf("it is held for %v", held)
	}
	l.mu.Lock()
	for i := range l.starts.at {
		l.starts.at[i] = l.starts.at[i].Add(-restartTime)
	}
	l.mu.Unlock()
	if held := l.Held(); held != 0 || l.Missing() != nil {
		t.Errorf("it is held for %v; missing: %v", held, l.Missing())
	}
	l.open(Tools{})
}

// A turn ends within half a second of its context, and the session goes on once the program has ended it, too.
func TestCancellationEndsTheTurnAndKeepsTheSession(t *testing.T) {
	for _, mode := range []string{"acp", "bus-hang", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			l := newLab(t, mode, Auto)
			s := l.open(Tools{})
			ctx, cancel := context.WithCancel(t.Context())
			var begun sync.Once
			turn := Turn{Text: "hang", Tell: func(string) { begun.Do(cancel) }}
			if mode == "bus-hang" { // it says nothing meanwhile
				cancel()
			}
			reply, failure := s.Prompt(ctx, turn)
			if mode == "bus-hang" && failure != nil && failure.Code == fault.Cancelled {
				return // it was over before the turn began
			}
			if failure != nil || reply.StopReason != Cancelled || mode != "bus-hang" && reply.Text != "I began" {
				t.Fatalf("reply %+v, failure %v", reply, failure)
			}
			if mode == "acp" {
				if reply := l.prompt(s, "again"); !strings.HasSuffix(reply.Text, "again") {
					t.Errorf("reply %+v", reply)
				}
			}
		})
	}
}

func TestTimeoutHasAnUnknownOutcome(t *testing.T) {
	l := newLab(t, "acp", ACP)
	s := l.open(Tools{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, failure := s.Prompt(ctx, Turn{Text: "hang"})
	if failure == nil || failure.Code != codes.WorkerTimeout || failure.Outcome != fault.Unknown {
		t.Fatalf("failure %+v", failure)
	}
}

func TestPermissionIsAskedOfThePerson(t *testing.T) {
	for _, c := range []struct {
		name   string
		permit func(context.Context, Permission) bool
		want   string
	}{
		{"allowed once", func(_ context.Context, p Permission) bool {
			return fmt.Sprintf("%s %s %s %s %q", p.Title, p.Kind, p.Arguments, p.Places, p.Shown) ==
				`Remove a file delete {"path":"a.txt"} [/tmp/a.txt] "It is old.\nb.txt becomes:\nNothing."`
		}, `"optionId":"yes"`},
		{"denied", func(context.Context, Permission) bool { return false }, `"optionId":"no"`},
		{"nobody can be asked", nil, `"optionId":"no"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, "acp", ACP)
			reply, failure := l.open(Tools{}).Prompt(t.Context(), Turn{Text: "permission", Permit: c.permit})
			if failure != nil || !strings.Contains(reply.Text, c.want) {
				t.Errorf("reply %+v, failure %v", reply, failure)
			}
		})
	}
	t.Run("the turn ends meanwhile", func(t *testing.T) {
		l := newLab(t, "acp", ACP)
		ctx, cancel := context.WithCancel(t.Context())
		reply, failure := l.open(Tools{}).Prompt(ctx, Turn{Text: "permission",
			Permit: func(asking context.Context, _ Permission) bool {
				cancel()
				<-asking.Done()
				return true // too late
			}})
		if failure != nil || strings.Contains(reply.Text, `"yes"`) {
			t.Errorf("reply %+v, failure %v", reply, failure)
		}
	})
}

func TestWhatAProgramGets(t *testing.T) {
	t.Setenv("TABRELAY_SECRET_OF_OURS", "hidden")
	for _, mode := range []string{"http", "acp"} {
		l := newLab(t, mode, ACP, "CONFIGURED", "yes")
		s := l.open(Tools{Token: "tok", URL: "http://127.0.0.1:1/mcp", Command: "/bin/tabrelay", Args: []string{"mcp"},
			Env: map[string]string{"TABRELAY_HOME": "/home"}})
		want := `{"agent":"","cwd":"` + l.folder() + `","servers":[{"args":["mcp"],"command":"/bin/tabrelay","env":[` +
			`{"name":"TABRELAY_TOKEN","value":"tok"},{"name":"TABRELAY_HOME","value":"/home"}],"name":"tabrelay"}]}`
		if mode == "http" {
			want = `{"agent":"","cwd":"` + l.folder() + `","servers":[{"headers":[{"name":"Authorization",` +
				`"value":"Bearer tok"}],"name":"tabrelay","type":"http","url":"http://127.0.0.1:1/mcp"}]}`
		}
		if got := l.prompt(s, "what did you get").Text; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		env := l.prompt(s, "environment").Text
		if strings.Contains(env, "hidden") || !strings.Contains(env, "CONFIGURED=yes") ||
			!strings.Contains(env, "PATH=") {
			t.Errorf("environment %s", env)
		}
		if got := l.prompt(s, "file").Text; !strings.Contains(got, "-32601") {
			t.Errorf("a file: %s", got)
		}
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	l := newLab(t, "bus-stateful", Auto)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			s, failure := l.Open(t.Context(), Tools{})
			if failure != nil {
				t.Error(failure)
				return
			}
			for turn := range 5 {
				want := fmt.Sprintf("Echo[%d]: %d", turn+1, i)
				reply, failure := s.Prompt(t.Context(), Turn{Text: strconv.Itoa(i)})
				if failure != nil || reply.Text != want {
					t.Errorf("reply %+v, failure %v", reply, failure)
				}
			}
			s.Close()
		})
	}
	all.Wait()
}

// A program that nobody has signed in to is reported as that, with its own words for how to.
func TestSignedOut(t *testing.T) {
	for mode, next := range map[string]string{
		"signed-out":          ". It offers: API key (Set THE_KEY)",
		"signed-out-terminal": ": `worker.test auth login` (Subscription)",
		"signed-out-silent":   ".",
	} {
		want := "Ask the person to sign in to the program in a terminal" + next
		t.Run(mode, func(t *testing.T) {
			_, failure := newLab(t, mode, ACP).Open(t.Context(), Tools{})
			if failure == nil || failure.Code != codes.WorkerFailed || failure.Hint != want ||
				failure.Message != "Nobody has signed in to the worker tester: Authentication required" {
				t.Errorf("%+v", failure)
			}
		})
	}
}

// A program asks whoever prompts it, by a form; an address to open is refused, as nobody has announced it.
func TestQuestionsOfAProgramReachThePrompter(t *testing.T) {
	answers := func(a call.Answer, err error) func(context.Context, call.Question) (call.Answer, error) {
		return func(_ context.Context, q call.Question) (call.Answer, error) {
			if q.Message != "Which colour?" || !strings.Contains(string(q.Schema), `"colour"`) {
				t.Errorf("the question is %s %s", q.Message, q.Schema)
			}
			return a, err
		}
	}
	accepted := call.Answer{Action: "accept", Content: json.RawMessage(`{"colour":"blue"}`)}
	for _, c := range []struct {
		prompt string
		ask    func(context.Context, call.Question) (call.Answer, error)
		want   string
	}{
		{"question", answers(accepted, nil), `{"action":"accept","content":{"colour":"blue"}}`},
		{"question", answers(call.Answer{Action: "decline"}, nil), `{"action":"decline"}`},
		{"question", answers(call.Answer{}, errors.New("it is too long")), "it is too long"},
		{"question", nil, `{"action":"cancel"}`},
		{"question by address", answers(accepted, nil), "only the mode form"},
	} {
		l := newLab(t, "acp", ACP)
		reply, failure := l.open(Tools{}).Prompt(t.Context(), Turn{Text: c.prompt, Ask: c.ask})
		if failure != nil || !strings.Contains(reply.Text, c.want) {
			t.Errorf("%s: reply %+v, failure %v, without %s", c.prompt, reply, failure, c.want)
		}
	}
	t.Run("the turn ends meanwhile", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		reply, failure := newLab(t, "acp", ACP).open(Tools{}).Prompt(ctx, Turn{Text: "question",
			Ask: func(asking context.Context, _ call.Question) (call.Answer, error) {
				cancel()
				<-asking.Done()
				return call.Answer{Action: "cancel"}, nil
			}})
		if failure != nil {
			t.Errorf("reply %+v, failure %v", reply, failure)
		}
	})
}

// A program gets the pictures of a prompt if it says that it takes them. Its own are passed on; what is no picture is
// left out.
func TestPicturesArePassedOnBothWays(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptV" +
		"AAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	dot := picture.Picture{MIMEType: "image/png", Data: data}
	s := newLab(t, "sees", ACP).open(Tools{})
	defer s.Close()
	reply, failure := s.Prompt(t.Context(), Turn{Text: "draw", Images: []picture.Picture{dot, dot}})
	if failure != nil {
		t.Fatal(failure)
	}
	const none = "its data is no picture of the type image/png, image/jpeg or image/webp"
	want := "[picture 1][picture 2][picture left out: " + none + "][picture left out: " + none + "]" +
		"[picture left out: its data is not base64 (RFC 4648, with padding, no data: URL)]" +
		"[picture left out: it has 6291456 bytes, and may have 3932160]"
	if reply.Text != want || !reflect.DeepEqual(reply.Images, []picture.Picture{dot, dot}) {
		t.Errorf("%q, %d pictures", reply.Text, len(reply.Images))
	}
	five := []picture.Picture{dot, dot, dot, dot, dot}
	if reply, failure = s.Prompt(t.Context(), Turn{Text: "draw", Images: five}); failure != nil {
		t.Fatal(failure)
	}
	if len(reply.Images) != picture.Most ||
		!strings.Contains(reply.Text, "[picture 4][picture left out: there may be 4") {
		t.Errorf("%q, %d pictures", reply.Text, len(reply.Images))
	}
	for _, mode := range []string{"acp", "bus-stateful"} {
		blind := newLab(t, mode, Auto).open(Tools{})
		defer blind.Close()
		_, failure := blind.Prompt(t.Context(), Turn{Text: "draw", Images: []picture.Picture{dot}})
		if failure == nil || failure.Code != fault.ConfigError || failure.Outcome != fault.NotExecuted ||
			!strings.Contains(failure.Message, "takes no pictures") {
			t.Errorf("%s: %v", mode, failure)
		}
		if _, failure = blind.Prompt(t.Context(), Turn{Text: "hello"}); failure != nil {
			t.Errorf("%s: the session cannot go on: %v", mode, failure)
		}
	}
}

package dispatch_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"golang.org/x/tools/txtar"

	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/schedule"
)

var update = flag.Bool("update", false, "rewrite the expected side of the stories")

// TestStoriesGoAsRecorded plays every file of testdata: a call, what the browser does at each attempt, and what
// everybody saw, with the time at which they saw it.
//
//	-- call --      JSON: tool, arguments, timeoutMs, resume, recovery; then lines "cancel D" or "drain D D"
//	-- browser --   one paragraph for each attempt, and before them one that begins with "recover" for each question
//	-- want --      the transcript; go test -update writes it
func TestStoriesGoAsRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, archive) })
			want := section(archive, "want")
			if *update {
				*want = txtar.File{Name: "want", Data: []byte(got)}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func section(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name})
	return &a.Files[len(a.Files)-1]
}

// transcript is what everybody saw, in the order they saw it.
type transcript struct {
	began time.Time
	mu    sync.Mutex
	b     strings.Builder
}

func (tr *transcript) say(format string, args ...any) {
	tr.sayAt(time.Since(tr.began), format, args...)
}

func (tr *transcript) sayAt(at time.Duration, format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	fmt.Fprintf(&tr.b, "%-5s %s\n", at, fmt.Sprintf(format, args...))
}

func play(t *testing.T, a *txtar.Archive) string {
	tr := &transcript{began: time.Now()}
	text, rest, _ := strings.Cut(string(section(a, "call").Data), "\n")
	var asked struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		TimeoutMs int             `json:"timeoutMs"`
		Resume    bool            `json:"resume"`
		ID        call.ID         `json:"id"`
		Extends   *bool           `json:"extends"`
		Drained   bool            `json:"drained"`

		Recovery map[fault.Code]string `json:"recovery"`
	}
	if err := json.Unmarshal([]byte(text), &asked); err != nil {
		t.Fatal(err)
	}
	if asked.ID == "" {
		asked.ID = "000000000000000000000000000000ff"
	}
	browser := &browser{t: t, transcript: tr, script: paragraphs(string(section(a, "browser").Data))}
	o := options(t, tr, browser)
	o.Recovery = asked.Recovery
	o.Events = func(_ event.Owner, kind event.Kind, message string, _ map[string]any) {
		if kind == event.Retry {
			tr.say("event %q", message)
		}
	}
	d := dispatch.New(o)
	if asked.Extends != nil {
		d.ProgressExtends = *asked.Extends
	}
	if asked.Drained {
		d.Drain(t.Context())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	told := make(chan struct{}) // closed once the caller has its answer
	for line := range strings.Lines(rest) {
		switch words := strings.Fields(line); words[0] {
		case "cancel":
			time.AfterFunc(duration(t, words[1]), func() { tr.say("client cancels"); cancel(call.ErrCancelled) })
		case "drain":
			time.AfterFunc(duration(t, words[1]), func() {
				ctx, cancel := context.WithTimeout(context.Background(), duration(t, words[2]))
				defer cancel()
				tr.say("relay drains")
				d.Drain(ctx)
				at := time.Since(tr.began)
				<-told // Drain and Do end in the same instant, in either order
				tr.sayAt(at, "relay is drained")
			})
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	result, failure := d.Do(ctx, call.Call{
		ID: asked.ID, Session: call.Session{Client: "test"}, Tool: asked.Tool, Arguments: asked.Arguments,
		Timeout: time.Duration(asked.TimeoutMs) * time.Millisecond, Resume: asked.Resume,
		Progress: func(p call.Progress) { tr.say("progress %s %q", progressText(p), p.Message) },
		Log:      func(e call.LogEntry) { tr.say("log %s %q", e.Level, e.Message) },
	})
	tr.say("%s", outcome(result, failure))
	close(told)
	synctest.Wait()
	if left := browser.left(); left != "" {
		tr.say("never happened: %s", left)
	}
	return tr.b.String()
}

// Recover says what it is told to do. Opening the web app takes it a second; reloading tab 13 fails.
func (b *browser) Recover(ctx context.Context, action string, at call.Target, r call.Invocation) *fault.Error {
	b.say("recover %s %s tab=%d url=%s", action, r.Plugin, at.TabID, r.OpenURL)
	if action == "open_url" {
		time.Sleep(time.Second)
	}
	if at.TabID == 13 {
		return fault.New(fault.TabNotFound, "it is gone")
	}
	return nil
}

func progressText(p call.Progress) string {
	if p.Total == nil {
		return strconv.FormatFloat(p.Progress, 'f', -1, 64)
	}
	return fmt.Sprintf("%v of %v", p.Progress, *p.Total)
}

func outcome(result *call.Result, f *fault.Error) string {
	if f == nil {
		s := fmt.Sprintf("result %s attempts=%d", result.Output, result.Meta.Attempts)
		if result.Structured {
			s += " structured"
		}
		if result.Meta.TabID != 0 {
			s += fmt.Sprintf(" tab=%d profile=%q", result.Meta.TabID, result.Meta.Profile)
		}
		for _, w := range result.Warnings {
			s += "\n      warning: " + w
		}
		return s
	}
	s := fmt.Sprintf("failure %s category=%s retryable=%v outcome=%s attempts=%d", f.Code, f.Category, f.Retryable,
		f.Outcome, f.Attempts)
	if f.RetryAfterMs != nil {
		s += fmt.Sprintf(" retryAfterMs=%d", *f.RetryAfterMs)
	}
	if f.Reason != "" {
		s += fmt.Sprintf(" reason=%s timeoutMs=%d maxTimeoutMs=%d timeoutSecs=%d extends=%v", f.Reason, f.TimeoutMs,
			f.MaxTimeoutMs, f.TimeoutSecs, *f.ProgressExtendsTimeout)
	}
	return s + "\n      " + f.Message + "\n      next: " + f.Hint
}

func duration(t *testing.T, s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func paragraphs(text string) (list [][]string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p != "" {
			list = append(list, strings.Split(p, "\n"))
		}
	}
	return list
}

func options(t testing.TB, tr *transcript, b dispatch.Browser) dispatch.Options {
	r := registry.New(builtins)
	if err := r.Replace([]plugin.Plugin{demo, wiki, shop},
		map[string]registry.Configured{"wiki": {Settings: json.RawMessage(`{"site":{"north":"https://north.example/",` +
			`"south":"https://south.example:8443/app"}}`)}}); err != nil {
		t.Fatal(err)
	}
	return dispatch.Options{
		Tools: r, Browser: b, Meter: meter{tr}, Log: zerolog.Nop(),
		Timeout: 30 * time.Second, MaxTimeout: 5 * time.Minute, ProgressExtends: true, ReconnectWait: 5 * time.Second,
		Retry: dispatch.Retry{MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: 30 * time.Second,
			Multiplier: 2},
		TransientPatterns: []string{"ECONNRESET"}, FatalPatterns: []string{"Authentication failed"},
		MaxInputBytes: 2000, MaxResultBytes: 1000, Jitter: func() float64 { return 0 },
		Limits: schedule.Limits{Running: 50, RunningPerPlugin: 25, Waiting: 64, Wait: 2 * time.Second,
			WaitingPerTab: 32},
		Breaker: breaker.Settings{Failures: 5, Percent: 50, MinCalls: 20, Window: time.Minute, Open: 30 * time.Second},
	}
}

// meter writes what was counted into the transcript, all but the rows every story has.
type meter struct{ *transcript }

func (m meter) CallDone(string, string, time.Duration) {}

func (m meter) ErrorRaised(fault.Class, fault.Source, fault.Code) {}

func (m meter) Breaker(name string, state int) {
	if m.transcript != nil && state != 0 { // each is closed when it is made, in every story
		m.say("breaker %s is %d", name, state)
	}
}

func (m meter) Retry(result string, waited time.Duration) {
	if m.transcript != nil {
		m.say("counted retry %s after %s", result, waited)
	}
}

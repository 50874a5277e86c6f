package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/metrics"
	"tabrelay/relay/state/store"
)

var (
	ann    = call.Session{ID: "http:ann", Client: "ann", Via: call.ViaHTTP}
	bob    = call.Session{ID: "http:bob", Client: "bob", Via: call.ViaHTTP}
	person = call.Session{Client: config.LocalClient, Via: call.ViaSocket}
)

// letters are dead letters in a database, with the relay's own tools to repeat.
func letters(t *testing.T) *DeadLetters {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "tabrelay.db"), store.Limits{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &DeadLetters{Store: db, Tools: registry.New(new(Sources).List()), Events: &event.Bus{},
		Meter: metrics.New(func() int { return 0 }), Log: zerolog.Nop()}
}

// letter is a call of ann's.
func letter(n int, change func(*call.DeadLetter)) call.DeadLetter {
	l := call.DeadLetter{ID: call.ID(fmt.Sprintf("%032x", n)), Session: ann, Tool: "browser__open_tab",
		Created: time.Now(), Arguments: json.RawMessage(`{"url":"https://shop.example/"}`), Attempts: 1,
		Outcome: call.Unknown}
	if change != nil {
		change(&l)
	}
	return l
}

func TestReplayIsRefused(t *testing.T) {
	d := letters(t)
	for _, test := range []struct {
		name   string
		change func(*call.DeadLetter)
		want   fault.Code // empty: it can be repeated
		asks   bool
	}{
		{"a tool that changes something", nil, "", true},
		{"a tool that reads", func(l *call.DeadLetter) { l.Tool = "bridge_health" }, "", false},
		{"a tool that is gone", func(l *call.DeadLetter) { l.Tool = "shop__pay" }, fault.NotFoundCode, false},
		{"redacted arguments", func(l *call.DeadLetter) { l.Redacted = true }, fault.ValidationError, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := letter(1, test.change)
			_, failure := d.Replayable(&l)
			if failure == nil && test.want != "" || failure != nil && failure.Code != test.want {
				t.Errorf("refused with %v, want %q", failure, test.want)
			}
			if v := d.View(&l, true); v.Replayable != (test.want == "") || v.Asks != test.asks ||
				(v.Because == "") != v.Replayable || v.Arguments != nil {
				t.Errorf("shown as %+v", v)
			}
		})
	}
}

func TestPersonIsAskedBeforeAChangeIsRepeated(t *testing.T) {
	answer := func(action, content string, err error) func(context.Context, call.Question) (call.Answer, error) {
		return func(_ context.Context, q call.Question) (call.Answer, error) {
			if !strings.Contains(q.Message, "Nobody knows whether it happened") {
				t.Errorf("asked %q", q.Message)
			}
			return call.Answer{Action: action, Content: json.RawMessage(content)}, err
		}
	}
	for _, test := range []struct {
		name string
		ask  func(context.Context, call.Question) (call.Answer, error)
		want fault.Code // empty: it is repeated
	}{
		{"a client that cannot ask", nil, fault.PermissionDenied},
		{"no answer", answer("", "", errors.New("gone")), fault.ApprovalTimeout},
		{"no", answer("decline", "", nil), fault.ApprovalDenied},
		{"an empty form", answer("accept", `{}`, nil), fault.ApprovalDenied},
		{"no form", answer("accept", ``, nil), fault.ApprovalDenied},
		{"not repeated", answer("accept", `{"repeat":false}`, nil), fault.ApprovalDenied},
		{"yes", answer("accept", `{"repeat":true}`, nil), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := letter(1, nil)
			var failure *fault.Error
			err := confirmRepeat(t.Context(), call.Call{Session: ann, Ask: test.ask}, &l)
			if errors.As(err, &failure); (failure == nil) != (test.want == "") ||
				failure != nil && failure.Code != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLettersAreThoseOfTheirClient(t *testing.T) {
	d := letters(t)
	for n := range 3 {
		l := letter(n, nil)
		d.AddDeadLetter(l, l.ID)
	}
	id := letter(1, nil).ID
	for _, test := range []struct {
		who  call.Session
		sees int
	}{{ann, 3}, {bob, 0}, {person, 3}} {
		page, failure := d.List(t.Context(), test.who, "", 10)
		if failure != nil || len(page.Letters) != test.sees || page.NextCursor != "" {
			t.Errorf("%s is shown %d, %v", test.who.Client, len(page.Letters), failure)
		}
		if _, failure := d.Find(t.Context(), test.who, id); (failure == nil) != (test.sees > 0) ||
			failure != nil && failure.Code != fault.NotFoundCode {
			t.Errorf("%s asked for one: %v", test.who.Client, failure)
		}
		if view, found, err := (Kept{d}).Letter(t.Context(), test.who, id); err != nil || found != (test.sees > 0) {
			t.Errorf("%s read one: %v %v %v", test.who.Client, view, found, err)
		}
	}
	page, failure := d.List(t.Context(), ann, "", 2)
	if failure != nil || len(page.Letters) != 2 || page.NextCursor != page.Letters[1].ID {
		t.Errorf("a page is %+v, %v", page, failure)
	}
	if page, failure = d.List(t.Context(), ann, page.NextCursor, 2); failure != nil || len(page.Letters) != 1 ||
		page.NextCursor != "" {
		t.Errorf("the last page is %+v, %v", page, failure)
	}
	_, failure = d.List(t.Context(), ann, "gone", 2)
	if failure == nil || failure.Code != fault.ValidationError {
		t.Errorf("a cursor of nothing: %v", failure)
	}
}

// The tool refuses what cannot be done before anything is repeated.
func TestDeadLettersTool(t *testing.T) {
	d := letters(t)
	gone := letter(1, func(l *call.DeadLetter) { l.Tool = "shop__pay" })
	d.AddDeadLetter(gone, gone.ID)
	s := &Sources{Letters: d}
	for arguments, want := range map[string]fault.Code{
		`{"action":"list"}`: "",
		`{"action":"show"}`: fault.ValidationError,
		`{"action":"show","id":"` + string(gone.ID) + `"}`:   "",
		`{"action":"replay","id":"` + string(gone.ID) + `"}`: fault.NotFoundCode,
		`{"action":"replay","id":"none"}`:                    fault.NotFoundCode,
		`{"action":`:                                         fault.ValidationError,
	} {
		_, failure := s.deadLetters(t.Context(), call.Call{Session: ann}, json.RawMessage(arguments))
		if (failure == nil) != (want == "") || failure != nil && failure.Code != want {
			t.Errorf("%s: %v, want %q", arguments, failure, want)
		}
	}
}

func TestWhatIsKnownOfALetter(t *testing.T) {
	for _, test := range []struct {
		outcome, late call.State
		want          string
	}{
		{call.Unknown, "", "Nobody knows"}, {call.Unknown, call.Executed, "HAS happened"},
		{call.Unknown, call.NotExecuted, "has not happened"}, {call.NotExecuted, "", "has not happened"},
	} {
		if got := KnownOf(&call.DeadLetter{Outcome: test.outcome, LateOutcome: test.late}); !strings.Contains(got,
			test.want) {
			t.Errorf("%s, late %s: %q", test.outcome, test.late, got)
		}
	}
}

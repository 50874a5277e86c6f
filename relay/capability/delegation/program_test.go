package delegation

import (
	"context"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/worker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// In an errand that only reads, a program may not change anything; what nobody can tell is asked of the person.
func TestProgramsInErrandsThatOnlyRead(t *testing.T) {
	for kind, asks := range map[string]bool{"read": true, "search": true, "other": true, "fetch": true, "": true,
		"edit": false, "delete": false, "move": false, "execute": false} {
		for _, readOnly := range []bool{true, false} {
			var asked []call.Access
			p := NewProgram(ProgramOptions{ID: "helper", Approve: func(_ context.Context, a call.Access,
				_ func(context.Context, call.Question) (call.Answer, error), _ func(string)) *fault.Error {
				asked = append(asked, a)
				return nil
			}})
			s := newSession(&fakeTools{})
			s.Acts.Bounds.ReadOnly = readOnly
			turn := s.Begin(t.Context(), Prompt{Text: "x"}, Budget{})
			allowed := p.permit(t.Context(), s, turn, worker.Permission{Title: "Do it", Kind: kind})
			turn.End()
			if want := asks || !readOnly; allowed != want || len(asked) > 0 != want {
				t.Errorf("%q, read-only %t: allowed %t, asked %d times", kind, readOnly, allowed, len(asked))
			}
			if len(asked) > 0 && strings.Contains(asked[0].Note, "only read") != readOnly {
				t.Errorf("%q, read-only %t: the person reads %s", kind, readOnly, asked[0].Note)
			}
		}
	}
}

// A program that is not there is known to be missing before it is needed.
func TestProgramThatIsMissing(t *testing.T) {
	p := NewProgram(ProgramOptions{ID: "helper", Worker: worker.New(worker.Options{
		ID: "helper", Command: "/nowhere/program", Folder: t.TempDir(),
	})})
	if i := p.Info(); i.Status != Unavailable || !strings.Contains(i.Trouble, "cannot be run") {
		t.Errorf("it is %s: %s", i.Status, i.Trouble)
	}
}

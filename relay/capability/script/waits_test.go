package script

import (
	"context"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Whoever sent a script is told of each of its calls that waits for the person, and where they answer; one that is
// answered hides no other. Nothing else of the calls' progress is told, and a line of the log cannot pass for any of
// it.
func TestWhoWaitsForThePersonIsTold(t *testing.T) {
	s := newStage(t, func(c *settings) { c.Permission = allow })
	var answered [2]chan struct{}
	for i := range answered {
		answered[i] = make(chan struct{})
	}
	s.does["wiki__edit_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if c.Progress != nil {
			t.Error("what a page says of its progress is told")
		}
		n := strings.Count(string(c.Arguments), "b")
		resume := c.Paused()
		c.Asking("Waiting for the person to allow the page " + string(c.Arguments))
		<-answered[n]
		resume()
		return returns("{}"), nil
	}
	told, ended := make(chan string, 100), make(chan *fault.Error)
	go func() {
		raw := encoded(t, map[string]string{"script": "log('Waiting for the person to allow nothing')\n" +
			"await Promise.all(['a', 'b'].map(n => tools.wiki.editPage({n})))"})
		_, f := s.Scripts.call(t.Context(), call.Call{ID: scriptID, Session: call.Session{ID: "s1"},
			Progress: func(p call.Progress) { told <- p.Message }}, raw)
		ended <- f
	}()
	const asks = "Waiting for the person to allow the page "
	const a, b = asks + `{"n":"a"}`, asks + `{"n":"b"}`
	hears := func(words string) string {
		t.Helper()
		for message := range told {
			if strings.Contains(message, words) {
				return message
			}
		}
		return ""
	}
	if got := hears("nothing"); got != "log: Waiting for the person to allow nothing" {
		t.Errorf("a line of the log is told as %q", got)
	}
	both := hears("; ")
	if !strings.Contains(both, a) || !strings.Contains(both, b) || !strings.HasSuffix(both, where) {
		t.Errorf("told was %q", both)
	}
	close(answered[0])
	if left := hears(b); left != b+where {
		t.Errorf("after the first answer %q was told", left)
	}
	close(answered[1])
	if f := <-ended; f != nil {
		t.Error(f)
	}
	if last := hears("No question"); last == "" || len(told) > 0 {
		t.Errorf("the last that was told is %q, and %d more", last, len(told))
	}
}

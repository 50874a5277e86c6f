package script

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// hidden is a script that changes something, which its text does not show.
const hidden = "await tools.wiki.getPage('x'); const k = 'constr' + 'uctor'\n" +
	"await [].at[k]('return tools')().wiki.editPage({})"

// The person is asked about a script that may change something, once, and sees it before it runs; not about one that
// only reads.
func TestWhoIsAsked(t *testing.T) {
	const whole = "Each call of a tool is asked about as always."
	for script, want := range map[string]string{
		"await tools.wiki.getPage('x')": "",
		"1 + 1":                         "",
		"await tools.wiki.getPage('x'); if (false) await tools.wiki.editPage({})": "It may change something with " +
			"wiki__edit_page; it reads with wiki__get_page; on https://wiki.example/*. " + whole,
		"const w = tools.wiki; 1": "It may use other tools, which its text does not show. " + whole,
		"globalThis.tools; 1":     "It may use other tools, which its text does not show. " + whole,
		"eval('1')":               "It may use other tools, which its text does not show. " + whole,
		"this.tools; 1":           "It may use other tools, which its text does not show. " + whole,
		"[].at.constructor; 1":    "It may use other tools, which its text does not show. " + whole,
		// What its text does not show is asked about when it comes.
		hidden: "It may change something with wiki__edit_page; it may use other tools, which its text does not show; " +
			"on https://wiki.example/*. " + whole,
	} {
		s := newStage(t, nil)
		s.asks = func() {
			if slices.Contains(s.carriedOut(), "wiki__edit_page") {
				t.Errorf("%s\nwas asked about after it had changed something", script)
			}
		}
		s.value(script)
		switch {
		case want == "" && len(s.asked) == 0:
		case len(s.asked) != 1:
			t.Errorf("%s\nthe person was asked %d times", script, len(s.asked))
		case s.asked[0].Note != want:
			t.Errorf("%s\nthe person was told %s\nnot      %s", script, s.asked[0].Note, want)
		default:
			var shown struct{ Script string }
			if err := json.Unmarshal(s.asked[0].Arguments, &shown); err != nil || shown.Script != script {
				t.Errorf("the person was shown %s", s.asked[0].Arguments)
			}
			if a := s.asked[0]; a.Tool != toolName || !a.Asks || a.ReadOnly || a.ID != scriptID {
				t.Errorf("the person was asked %+v", a)
			}
		}
	}
}

// Who says no, or a rule that does, keeps a script from changing anything; one that reads runs.
func TestRefusedScripts(t *testing.T) {
	s := newStage(t, nil)
	s.said = fault.New(fault.ApprovalDenied, "The person did not allow relay__run")
	if f := s.fails("await tools.wiki.editPage({})", fault.ApprovalDenied); f.Outcome != fault.NotExecuted {
		t.Error(f)
	}
	a := s.value("let said\ntry {" + hidden + "} catch (e) { said = e.code }\nsaid")
	if string(a.Value) != `"APPROVAL_DENIED"` {
		t.Error(string(a.Value))
	}
	s.value("await tools.wiki.getPage('x')")
	denies := newStage(t, func(c *settings) { c.Permission = deny })
	denies.fails("await tools.wiki.editPage({})", fault.PermissionDenied, "scripts.permission")
	denies.value("await tools.wiki.getPage('x')")
	allows := newStage(t, func(c *settings) { c.Permission = allow })
	allows.value("await tools.wiki.editPage({})")
	for _, of := range []*stage{s, denies} {
		if slices.Contains(of.carriedOut(), "wiki__edit_page") {
			t.Error("something was changed")
		}
	}
	if len(denies.asked)+len(allows.asked) > 0 {
		t.Error("the person was asked although a setting says what is done")
	}
	// A rule that asks about relay__run itself has shown the person the script already.
	consents := newStage(t, nil)
	if _, f := consents.call(t.Context(), call.Call{Consent: true}, json.RawMessage(
		`{"script":"await tools.wiki.editPage({})"}`)); f != nil || len(consents.asked) > 0 {
		t.Error(f, consents.asked)
	}
}

// While a person is asked, about the script or about one of its calls, the clock of the call that the script is stands
// still, once for all questions that overlap.
func TestQuestionsStopTheClock(t *testing.T) {
	s := newStage(t, nil)
	s.does["wiki__edit_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		resume := c.Paused()
		resume()
		return returns("{}"), nil
	}
	paused, resumed := 0, 0
	raw := json.RawMessage(`{"script":"await tools.wiki.editPage({})"}`)
	outer := func() func() { paused++; return func() { resumed++ } }
	if _, f := s.call(t.Context(), call.Call{Paused: outer}, raw); f != nil || paused < 2 || paused != resumed {
		t.Errorf("%v; the call's clock was stopped %d times and started %d times", f, paused, resumed)
	}
}

// The clock of a script stands still while a person is asked, however many questions there are.
func TestClockStopsWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, over, stopped := time.Now(), make(chan time.Duration, 1), 0
		outer := func() func() { stopped++; return func() { stopped-- } }
		c := newClock(10*time.Second, outer, func() { over <- time.Since(began) })
		time.Sleep(4 * time.Second)
		one := c.pause()
		time.Sleep(time.Minute)
		two := c.pause()
		if one(); stopped != 1 {
			t.Errorf("the outer clock was stopped %d times", stopped)
		}
		time.Sleep(time.Minute)
		two()
		if got := <-over; got != 2*time.Minute+10*time.Second || stopped != 0 {
			t.Errorf("its time was over after %v", got)
		}
		c.stop()
	})
}

// A script with an id runs once in its session: what comes again waits for the first one, or gets its answer, also of a
// relay that was started again.
func TestSentAgain(t *testing.T) {
	s := newStage(t, nil)
	sent := map[string]any{"script": "await tools.wiki.editPage({})\n'done'", "id": "save"}
	hold := make(chan struct{})
	s.does["wiki__edit_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		<-hold
		return returns("{}"), nil
	}
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			a, f := s.runWith(t.Context(), sent)
			if f != nil {
				t.Error(f)
			}
			answers <- a
		}()
	}
	close(hold)
	first, second := <-answers, <-answers
	if len(first.warnings) > len(second.warnings) {
		first, second = second, first
	}
	if string(first.Value) != `"done"` || string(second.Value) != `"done"` || len(first.warnings) != 0 ||
		len(second.warnings) != 1 || len(s.carriedOut()) != 1 {
		t.Errorf("%+v\n%+v\ncalled were %v", first, second, s.carriedOut())
	}
	s.Scripts = New(s.core(s.Scripts.core.Store)) // the next relay
	if third, f := s.runWith(t.Context(), sent); f != nil || string(third.Value) != `"done"` || !third.untrusted ||
		len(third.warnings) != 1 || len(s.carriedOut()) != 1 {
		t.Errorf("%+v %v", third, f)
	}
	_, f := s.runWith(t.Context(), map[string]any{"script": "1", "id": "save"})
	if f == nil || f.Code != fault.ValidationError || f.Outcome != fault.NotExecuted {
		t.Errorf("another script with the same id got %v", f)
	}
	bad := map[string]any{"script": "await tools.wiki.editPage({}); throw new Error('no')", "id": "bad"}
	_, one := s.runWith(t.Context(), bad)
	_, two := s.runWith(t.Context(), bad)
	if one == nil || two == nil || one.Before != two.Before || two.Outcome != fault.Executed || two.Retryable ||
		len(two.Warnings) != 1 || len(s.carriedOut()) != 2 {
		t.Errorf("%+v\n%+v", one, two)
	}
}

// A script with an id of which nothing began runs when it is sent again, as its failure advises, also by the next
// relay. One that its person refused, or that called a tool, does not.
func TestWhatDidNotBeginMayBeSentAgain(t *testing.T) {
	const script = "await tools.wiki.editPage({})\n'done'"
	over := fault.New(fault.ApprovalTimeout, "Nobody answered", fault.WithOutcome(fault.NotExecuted))
	denied := fault.New(fault.ApprovalDenied, "The person said no", fault.WithOutcome(fault.NotExecuted))
	for name, test := range map[string]struct {
		hinder func(*stage)
		help   func(*stage)
		code   fault.Code
		again  bool // it runs
	}{
		"too many run": {func(s *stage) { s.running.Add(int64(s.settings.Load().Running)) },
			func(s *stage) { s.running.Store(0) }, fault.Overloaded, true},
		"nobody answers": {func(s *stage) { s.said = over }, func(s *stage) { s.said = nil },
			fault.ApprovalTimeout, true},
		"the person says no": {func(s *stage) { s.said = denied }, func(s *stage) { s.said = nil },
			fault.ApprovalDenied, false},
		"a call was refused": {func(s *stage) {
			s.does["wiki__edit_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
				return nil, fault.New(fault.TabNotFound, "There is no tab", fault.WithOutcome(fault.NotExecuted))
			}
		}, func(s *stage) { delete(s.does, "wiki__edit_page") }, scriptFailed, false},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restarted), func(t *testing.T) {
				s := newStage(t, nil)
				sent := map[string]any{"script": script, "id": "save"}
				test.hinder(s)
				_, f := s.runWith(t.Context(), sent)
				if f == nil || f.Code != test.code || f.Outcome != fault.NotExecuted {
					t.Fatalf("the first one: %v", f)
				}
				test.help(s)
				if restarted {
					s.Scripts = New(s.core(s.Scripts.core.Store))
				}
				a, f := s.runWith(t.Context(), sent)
				if ran := f == nil && string(a.Value) == `"done"` && len(a.warnings) == 0; ran != test.again {
					t.Errorf("sent again: %+v, %v", a, f)
				}
				if !test.again && (f == nil || len(f.Warnings) != 1) {
					t.Errorf("sent again: %+v", f)
				}
			})
		}
	}
}

// Whichever call of a script reads the ledger last keeps it last.
func TestLedgerIsKeptInOrder(t *testing.T) {
	s := newStage(t, nil)
	r, tool := s.ready(""), s.tools[0]
	kept, newest := 0, 0
	for _, one := range s.tools {
		if !one.ReadOnly {
			tool = one
		}
	}
	r.record = func(list calls) { // under a lock of the run
		runtime.Gosched()
		kept, newest = len(list), max(newest, len(list))
		if kept < newest {
			t.Errorf("%d calls are kept after %d were", kept, newest)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				r.ledger.add(tool.Name, true, engine.Place{})
				r.keep(tool)
			}
		})
	}
	all.Wait()
	if kept != 1600 {
		t.Errorf("%d calls are kept", kept)
	}
}

// A relay that is killed while a script writes: the next one says what is known, and does not run the script again.
func TestKilledRelay(t *testing.T) {
	s := newStage(t, nil)
	sent := map[string]any{"script": "await tools.wiki.editPage({n: 1})\nawait tools.wiki.editPage({n: 2})\n" +
		"await tools.wiki.editPage({n: 3})", "id": "save"}
	reached, never := make(chan struct{}), make(chan struct{})
	s.does["wiki__edit_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if strings.Contains(string(c.Arguments), "2") {
			close(reached)
			<-never
		}
		return returns("{}"), nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.runWith(context.Background(), sent) // of a relay that is gone
	}()
	<-reached
	next := newStage(t, nil)
	next.Scripts = New(next.core(s.Scripts.core.Store))
	_, f := next.runWith(t.Context(), sent)
	if f == nil || f.Code != fault.ShuttingDown || f.Outcome != fault.Unknown || f.Retryable || f.Before !=
		"Calls executed: wiki__edit_page\nCalls unknown: wiki__edit_page (line 2)" {
		t.Errorf("%+v\n%v", f, f.Before)
	}
	if got := next.carriedOut(); len(got) != 0 {
		t.Errorf("called again were %v", got)
	}
	close(never)
	<-ended
}

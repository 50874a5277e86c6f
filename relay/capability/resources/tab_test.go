package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// window is a browser as a test wants it.
type window struct {
	trouble *fault.Error
	answer  func(profile, name string, params map[string]any) (string, *fault.Error)

	mu        sync.Mutex
	tabs      []hub.Tab
	asked     []string
	listeners map[int]func(hub.TabNews)
}

func (w *window) Trouble() *fault.Error { return w.trouble }

func (w *window) Tabs() []hub.Tab {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tabs)
}

func (w *window) keepTabs(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs = w.tabs[:n]
}

func (w *window) Command(_ context.Context, profile, name string, params any) (json.RawMessage, *fault.Error) {
	w.mu.Lock()
	w.asked = append(w.asked, profile+" "+name)
	w.mu.Unlock()
	text, failure := w.answer(profile, name, params.(map[string]any))
	return json.RawMessage(text), failure
}

func (w *window) OnTabs(listener func(hub.TabNews)) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners == nil {
		w.listeners = map[int]func(hub.TabNews){}
	}
	id := len(w.listeners)
	w.listeners[id] = listener
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, id)
	}
}

func (w *window) tell(n hub.TabNews) {
	w.mu.Lock()
	listeners := slices.Collect(maps.Values(w.listeners))
	w.mu.Unlock()
	for _, l := range listeners {
		l(n)
	}
}

func (w *window) commands() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func twoProfiles() *window {
	return &window{tabs: []hub.Tab{
		{ProfileID: "p2", Profile: "Work", ID: 7, URL: "https://b.example/x?token=secret#secret", Title: "B\nside"},
		{ProfileID: "p1", Profile: "Home", ID: 9, URL: "https://a.example/", Title: "A", Active: true, Focused: true},
		{ProfileID: "p1", Profile: "Home", ID: 7, URL: "https://a.example/7", Title: "A7", Discarded: true},
	}, answer: func(profile, _ string, params map[string]any) (string, *fault.Error) {
		return fmt.Sprintf(`{"frames":[{"url":"https://a.example/","origin":"https://a.example","title":"A",`+
			`"text":"words of %s %v","total":13}]}`, profile, params["tabId"]), nil
	}}
}

func TestListedTabs(t *testing.T) {
	w := twoProfiles()
	s := set(t, Options{Browser: w})
	list, _ := s.List(t.Context(), session)
	var got []string
	for _, r := range list {
		got = append(got, r.URI+" "+r.Title+" "+r.Description)
	}
	want := []string{
		"tab://7/text?profile=Home A7 https://a.example/7 (profile Home, asleep)",
		"tab://9/text?profile=Home A https://a.example/ (profile Home, in front)",
		"tab://7/text?profile=Work B side https://b.example/x (profile Work)",
		"events://recent What the relay has reported about this client lately Failures, retries and questions " +
			"about calls " +
			"of this client: the last 100, oldest first.",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("listed:\n%s", strings.Join(got, "\n"))
	}
	for i := range w.tabs {
		w.tabs[i].Profile = "Same"
	}
	list, _ = s.List(t.Context(), session)
	if list[0].URI != "tab://7/text?profile=p1" {
		t.Errorf("profiles with one label: %s", list[0].URI)
	}
	w.keepTabs(1)
	list, _ = s.List(t.Context(), session)
	if list[0].URI != "tab://7/text" {
		t.Errorf("one profile: %s", list[0].URI)
	}
}

// wrapped is text of a page with the markers around it.
var wrapped = regexp.MustCompile(`(?s)What stands between the two markers was written by ` +
	`[^\n]*\n<(untrusted-page-text-[0-9a-f]{24})>\n(.*?)\n?</untrusted-page-text-[0-9a-f]{24}>`)

// inside is what stands between the markers.
func inside(text string) string {
	found := wrapped.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	return found[2]
}

func TestTabsAreFound(t *testing.T) {
	w := twoProfiles()
	s := set(t, Options{Browser: w})
	for uri, want := range map[string]string{
		"tab://9/text": "words of p1 9", "tab://9/html": "words of p1 9", "tab://7/text?profile=Work": "words of p2 7",
		"tab://7/text?profile=p2": "words of p2 7",
	} {
		contents, failure := read(t, s, uri)
		if failure != nil || inside(contents[0].Text) != want || contents[0].URI != uri {
			t.Errorf("%s: %+v %v", uri, contents, failure)
		}
	}
	for _, uri := range []string{"tab://7/text", "console://7", "tab://07/text?profile=p2", "tab://x/text",
		"tab:///text", "tab://-1/text", "tab://9/text?from=-1",
		"tab://9/text?from=99999999999", "tab://9/text?frm=1", "console://9?from=1"} {
		wantFault(t, s, uri, fault.InvalidParams, "")
	}
	for _, uri := range []string{"tab://1/text", "tab://9/text?profile=Work", "tab://9/pdf", "tab://9", "tab://9/",
		"tab://9/text/", "console://9/x", "console://1"} {
		wantFault(t, s, uri, fault.ResourceNotFound, "")
	}
	if failure := wantFault(t, s, "tab://7/text?profile=Home", fault.ResourceUnreadable, ""); !failure.Retryable ||
		!strings.Contains(failure.Message, "sleep") {
		t.Errorf("asleep: %+v", failure)
	}
	w.tabs, w.trouble = nil, fault.New(fault.ExtensionNotConnected, "no browser")
	wantFault(t, s, "tab://7/text", fault.ExtensionNotConnected, "")
}

// Pages that a person has taken out are neither listed nor read, also when a tab goes there in the last moment.
func TestTabsThatMayNotBeRead(t *testing.T) {
	w := twoProfiles()
	address := "https://a.example/"
	w.answer = func(_, name string, _ map[string]any) (string, *fault.Error) {
		return fmt.Sprintf(`{"url":%q,"frames":[{"url":%q,"text":"top","total":3},{"url":"https://b.example/f",`+
			`"text":"secret","total":6},{"url":"about:srcdoc","origin":"https://b.example","text":"inner","total":5},`+
			`{"url":"data:text/html","origin":"null","text":"blank","total":5}]}`, address, address), nil
	}
	s := set(t, Options{Browser: w, Readable: func(address string) bool {
		return strings.HasPrefix(address,
			"https://a.example/")
	}})
	if list, _ := s.List(t.Context(), session); len(list) != 3 {
		t.Errorf("listed: %+v", list)
	}
	wantFault(t, s, "tab://7/text?profile=Work", fault.ResourceNotFound, "")
	wantFault(t, s, "console://7?profile=Work", fault.ResourceNotFound, "")
	const withheld = "(frame https://b.example not readable: off)"
	contents, failure := read(t, s, "tab://9/text")
	var said []string
	for _, c := range contents {
		said = append(said, inside(c.Text))
		if strings.Contains(string(c.Meta), "b.example/") || strings.Contains(c.Text, "secret") {
			t.Errorf("more than the site is told: %+v", c)
		}
	}
	if failure != nil || !slices.Equal(said, []string{"top", withheld, withheld, "blank"}) {
		t.Errorf("%q %v", said, failure)
	}
	address = "https://b.example/"
	wantFault(t, s, "tab://9/text", fault.ResourceNotFound, "")
	wantFault(t, s, "console://9", fault.ResourceNotFound, "")
}

func TestTabsThatCannotBeRead(t *testing.T) {
	w := twoProfiles()
	s := set(t, Options{Browser: w})
	for code, want := range map[fault.Code]fault.Code{
		fault.TabNotFound: fault.ResourceNotFound, fault.TabUnresponsive: fault.ResourceUnreadable,
		fault.TabChanged:      fault.ResourceUnreadable,
		fault.InjectionFailed: fault.ResourceUnreadable, fault.ExtensionLost: fault.ExtensionLost,
		fault.TimeoutCode: fault.TimeoutCode,
	} {
		w.answer = func(string, string, map[string]any) (string, *fault.Error) {
			return "", fault.New(code, "as the browser says")
		}
		wantFault(t, s, "tab://9/text", want, "")
		wantFault(t, s, "console://9", want, "")
	}
	for _, answer := range []string{"", "null", "[]", `{"frames":[]}`, `{"frames":7}`} {
		w.answer = func(string, string, map[string]any) (string, *fault.Error) { return answer, nil }
		wantFault(t, s, "tab://9/text", fault.ResourceUnreadable, fault.TypeInternal)
	}
}

func TestLongPages(t *testing.T) {
	w := twoProfiles()
	w.answer = func(_, _ string, params map[string]any) (string, *fault.Error) {
		if params["max"] != 10 {
			t.Errorf("asked for %v characters", params["max"])
		}
		if params["from"] == 20 {
			return `{"frames":[{"text":"","total":15},{"text":"IJ","total":7,"url":"https://f.example/"}]}`, nil
		}
		return `{"frames":[{"text":"0123456789","total":15},{"text":"","total":7}]}`, nil
	}
	s := set(t, Options{Browser: w, PageChars: 10})
	contents, _ := read(t, s, "tab://7/text?profile=Work")
	if len(contents) != 1 || !strings.HasSuffix(contents[0].Text,
		">\n[cut here: characters 0 to 10 of 22; tab://7/text?from=10&profile=Work reads on]") ||
		inside(contents[0].Text) != "0123456789" ||
		!strings.Contains(string(contents[0].Meta), `"tabrelay/truncated":{"characters":10,"from":0,"total":22}`) {
		t.Errorf("first part: %+v %s", contents, contents[0].Meta)
	}
	contents, _ = read(t, s, "tab://9/text?from=20")
	if len(contents) != 2 || inside(contents[1].Text) != "IJ" || !strings.Contains(string(contents[1].Meta),
		`"tabrelay/frame":"https://f.example/"`) {
		t.Errorf("last part: %+v", contents)
	}
}

func TestConsolesAreRedactedAndEnclosed(t *testing.T) {
	w := twoProfiles()
	w.answer = func(_, name string, params map[string]any) (string, *fault.Error) {
		if name != "console.read" || params["holdMs"] != int64(600_000) {
			t.Errorf("asked %s %v", name, params)
		}
		return `{"url":"https://a.example/","since":1700000000000,"dropped":3,"lines":[{"at":1700000001234,` +
			`"text":"error: a\nb password=hunter2 \u202e"}]}`, nil
	}
	contents, failure := read(t, set(t, Options{Browser: w}), "console://9")
	want := "Console of tab 9, https://a.example/\nCaptured since 2023-11-14 22:13:20 UTC: errors, warnings, " +
		"uncaught errors, unhandled rejections.\n" +
		"3 older lines are left out.\n\n22:13:21.234 error: a b password=[redacted] \n"
	if failure != nil || wrapped.ReplaceAllString(contents[0].Text, "$2\n") != want ||
		inside(contents[0].Text) == contents[0].Text {
		t.Errorf("%v\n%q", failure, contents[0].Text)
	}
	contents, _ = read(t, set(t, Options{Browser: w, PageChars: 10}), "console://9")
	if !strings.HasSuffix(contents[0].Text, "unhandled rejections.\n4 older lines are left out.\n\n") {
		t.Errorf("without room: %q", contents[0].Text)
	}
}

func TestWatchedTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := twoProfiles()
		s := set(t, Options{Browser: w})
		var told atomic.Int32
		stop, failure := s.Watch(session, "tab://9/text", func() { told.Add(1) })
		if failure != nil {
			t.Fatal(failure)
		}
		expect := func(want int32, after time.Duration) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if told.Load() != want {
				t.Errorf("told %d times, want %d", told.Load(), want)
			}
		}
		w.tell(hub.TabNews{ProfileID: "p2", TabID: 9, Page: true})
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 9})
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 9, Console: true})
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 7, Page: true})
		expect(0, time.Minute)
		for range 5 {
			w.tell(hub.TabNews{ProfileID: "p1", TabID: 9, Page: true})
			expect(0, quietTime/2)
		}
		expect(1, quietTime)
		for range 30 { // a page that never rests
			w.tell(hub.TabNews{ProfileID: "p1", TabID: 9, Page: true})
			time.Sleep(quietTime / 2)
		}
		expect(3, quietTime) // once within two seconds, and the rest
		w.tell(hub.TabNews{ProfileID: "p1"})
		expect(4, quietTime)
		w.tell(hub.TabNews{ProfileID: "p1"})
		stop()
		expect(4, time.Minute)
	})
}

func TestWatchedConsoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := twoProfiles()
		w.answer = func(string, string, map[string]any) (string, *fault.Error) { return `{"lines":[]}`, nil }
		s := set(t, Options{Browser: w})
		var told atomic.Int32
		stop, failure := s.Watch(session, "console://9", func() { told.Add(1) })
		if failure != nil {
			t.Fatal(failure)
		}
		synctest.Wait()
		if n := w.commands(); n != 1 {
			t.Errorf("%d commands: watching begins the capture", n)
		}
		w.tell(hub.TabNews{ProfileID: "p1"}) // the browser is back
		synctest.Wait()
		if n := w.commands(); n != 2 {
			t.Errorf("%d commands after the browser came back", n)
		}
		time.Sleep(holdTime)
		synctest.Wait()
		if n := w.commands(); n != 4 {
			t.Errorf("%d commands: the capture is renewed", n)
		}
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 9, Console: true})
		time.Sleep(quietTime)
		synctest.Wait()
		if told.Load() != 2 { // when the browser came back, and now
			t.Errorf("told %d times", told.Load())
		}
		stop()
	})
}

func TestWatchedEventsAndLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, bus := twoProfiles(), new(event.Bus)
		s := set(t, Options{Browser: w, Events: bus, Keep: &shelves{}})
		var toldEvents, toldList atomic.Int32
		stop, failure := s.Watch(session, "events://recent", func() { toldEvents.Add(1) })
		if failure != nil {
			t.Fatal(failure)
		}
		stopList := s.OnListChange(session, func() { toldList.Add(1) })
		letter := strings.Repeat("a", 32)
		var toldLetter atomic.Int32
		stopLetter, failure := s.Watch(session, "deadletter://"+letter, func() { toldLetter.Add(1) })
		if failure != nil {
			t.Fatal(failure)
		}
		mine := event.Of(session)
		bus.Publish(mine, event.Retry, "again", nil)
		bus.Publish(mine, event.Error, "late", map[string]any{"deadLetter": strings.Repeat("b", 32)})
		bus.Publish(mine, event.Error, "late", map[string]any{"deadLetter": letter})
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 9, Page: true})
		w.tell(hub.TabNews{ProfileID: "p1", TabID: 7, Console: true})
		time.Sleep(time.Minute)
		synctest.Wait()
		if toldEvents.Load() != 1 || toldList.Load() != 1 || toldLetter.Load() != 1 {
			t.Errorf("told %d, %d and %d times", toldEvents.Load(), toldList.Load(), toldLetter.Load())
		}
		time.Sleep(time.Minute)
		for _, owner := range []event.Owner{event.OfPerson(), event.Of(call.Session{Client: "somebody else"})} {
			bus.Publish(owner, event.Error, "late", map[string]any{"deadLetter": letter})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if toldEvents.Load() != 1 || toldList.Load() != 1 || toldLetter.Load() != 1 {
			t.Errorf("of what is not its own it is told %d, %d and %d times", toldEvents.Load()-1, toldList.Load()-1,
				toldLetter.Load()-1)
		}
		stopLetter()
		stop()
		stopList()
	})
	for _, uri := range []string{"result://" + strings.Repeat("a", 32), "deadletter://x", "git+https://h/o/r#f"} {
		if _, failure := set(t, Options{Keep: &shelves{}}).Watch(session, uri, func() {}); failure == nil ||
			failure.Code != fault.InvalidParams {
			t.Errorf("%s can be watched: %v", uri, failure)
		}
	}
}

// shelves is a store as a test wants it.
type shelves struct {
	result call.StoredResult
	letter call.DeadLetter
	err    error
}

func (s *shelves) Result(_ context.Context, from call.Session, id string) (call.StoredResult, bool, error) {
	return s.result, id == s.result.ID && from.Client == s.result.Session.Client && s.err == nil, s.err
}

func (s *shelves) Letter(_ context.Context, from call.Session, id call.ID) (any, bool, error) {
	return map[string]any{"id": id}, id == s.letter.ID && from.Client == s.letter.Session.Client && s.err == nil, s.err
}

func (s *shelves) Letters(_ context.Context, from call.Session, _ int) ([]call.DeadLetter, error) {
	if s.err != nil || from.Client != s.letter.Session.Client {
		return nil, s.err
	}
	return []call.DeadLetter{s.letter}, nil
}

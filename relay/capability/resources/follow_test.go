package resources

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/fault"
)

// TestPagesAreFollowed has a page change its text, fall silent, fail and change again while it is watched.
func TestPagesAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marks := []string{"a.0", "a.1", "a.1", "", "a.2", "b.0"} // an empty one is a failure
		var asked atomic.Int32
		w := twoProfiles()
		w.answer = func(profile, name string, params map[string]any) (string, *fault.Error) {
			i := int(asked.Add(1)) - 1
			if profile != "p1" || name != "tabs.watch" || params["tabId"] != 9 || params["kind"] != "html" {
				t.Errorf("asked %s of %s: %v", name, profile, params)
			}
			if last := []string{"", "a.0", "a.1", "a.1", "a.1", "a.2"}; i < len(last) && params["mark"] != last[i] {
				t.Errorf("question %d is about mark %q, want %q", i, params["mark"], last[i])
			}
			if i < len(marks) && marks[i] == "" {
				return "", fault.New(fault.TabUnresponsive, "busy")
			}
			return `{"mark":"` + marks[min(i, len(marks)-1)] + `"}`, nil
		}
		s := set(t, Options{Browser: w})
		var told atomic.Int32
		stop, failure := s.Watch(session, "tab://9/html", func() { told.Add(1) })
		if failure != nil {
			t.Fatal(failure)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if told.Load() != 3 {
			t.Errorf("told %d times, want 3: after a.1, a.2 and b.0", told.Load())
		}
		before := asked.Load()
		w.keepTabs(0) // closed
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := asked.Load(); n != before {
			t.Errorf("a closed tab was asked %d times", n-before)
		}
		stop()
	})
}

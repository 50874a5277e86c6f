package resources

import (
	"context"
	"encoding/json"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/lock"
)

const (
	followPace = 2 * time.Second  // between a change and the question for the next one
	followRest = 10 * time.Second // after a failure: the tab sleeps, hangs, is gone or away
)

// follow tells each change of what a page shows, until ctx ends. The browser answers when there is one, or after a
// while.
func (t *tabs) follow(ctx context.Context, tab hub.Tab, kind string, changed func()) {
	mark := ""
	for {
		next, ok := t.nextMark(ctx, tab, kind, mark)
		rest := followRest
		if ok {
			rest = followPace
			if mark != "" && next != mark {
				changed()
			}
			mark = next
		}
		if !async.Sleep(ctx, rest) {
			return
		}
	}
}

// nextMark waits for a document that is another than at mark. The page may have become one that agents may not read:
// that it changes is none of their business then.
func (t *tabs) nextMark(ctx context.Context, tab hub.Tab, kind, mark string) (next string, ok bool) {
	if !t.stillOpen(tab) {
		return "", false
	}
	raw, failure := t.browser.Command(ctx, tab.ProfileID, "tabs.watch", map[string]any{"tabId": tab.ID, "kind": kind,
		"mark": mark})
	if failure != nil {
		return "", false
	}
	var answer struct {
		Mark string `json:"mark"`
	}
	if json.Unmarshal(raw, &answer) != nil || answer.Mark == "" {
		return "", false
	}
	return answer.Mark, true
}

// stillOpen reports whether the tab is there with a page that may be read, and awake.
func (t *tabs) stillOpen(tab hub.Tab) bool {
	for _, now := range t.open() {
		if now.ID == tab.ID && now.ProfileID == tab.ProfileID {
			return !now.Discarded
		}
	}
	return false
}

// A change is told when nothing more has changed for quietTime, but no later than longestQuiet after the first.
const (
	quietTime    = 200 * time.Millisecond
	longestQuiet = 2 * time.Second
)

// debounce tells many changes as one.
type debounce struct {
	quiet, most time.Duration
	tell        func()

	mu    lock.Mutex
	timer *time.Timer // nil: nothing has changed
	first time.Time   // of the changes that are not told yet
	ended bool
}

func newDebounce(quiet, most time.Duration, tell func()) *debounce {
	return &debounce{quiet: quiet, most: most, tell: tell}
}

// hit notes a change. It does not block.
func (d *debounce) hit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	if d.timer == nil {
		d.first = time.Now()
		d.timer = time.AfterFunc(d.quiet, d.fire)
		return
	}
	if left := d.most - time.Since(d.first); left > 0 {
		d.timer.Reset(min(d.quiet, left))
	}
}

func (d *debounce) fire() {
	d.mu.Lock()
	told := d.timer != nil && !d.ended
	d.timer = nil
	d.mu.Unlock()
	if told {
		d.tell()
	}
}

func (d *debounce) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

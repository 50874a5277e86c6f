package hub_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
)

// offering are tabs whose pages have the tool "t" of https://a.example.
type offering struct {
	mu   sync.Mutex
	tabs map[int]bool
}

func (o *offering) Tell(string, int, json.RawMessage) {}

func (o *offering) Has(_ string, tabID int, _ string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tabs[tabID]
}

func (o *offering) set(tabID int, has bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tabs[tabID] = has
}

func TestTabWithTheToolOfAPage(t *testing.T) {
	pages := &offering{tabs: map[int]bool{}}
	tool := func(r *call.Invocation) { r.PageTool = "https://a.example\nk\nt" }
	in := func(id int) func(*call.Invocation) { return func(r *call.Invocation) { r.TabID = id } }
	inLabWith(t, func(c *hub.Config) { c.PageTools = pages }, func(t *testing.T, l *lab) {
		l.connect(func(o *hubtest.Options) { o.Tabs = append(o.Tabs, demoTab(1), demoTab(2), demoTab(3)) })
		began := time.Now()
		faulttest.Provoked(t, "page-tool-gone", l.invoke(request(tool)).failure)
		if waited := time.Since(began); waited < time.Second || waited > 3*time.Second {
			t.Errorf("a page had %v to register it", waited)
		}
		pages.set(2, true)
		l.invoke(request(tool)).wantTab(t, "Test", 2)
		l.invoke(request(tool, in(3))).want(t, fault.ToolGone, fault.NotExecuted)
		pages.set(3, true)
		l.invoke(request(tool, in(3))).wantTab(t, "Test", 3)
		l.invoke(request(tool)).wantTab(t, "Test", 3) // where this session used it last
	})
}

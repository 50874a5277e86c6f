package hub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// PageTools knows which tools the pages of which tabs register. Its methods are called concurrently, and must not
// block.
type PageTools interface {
	// Tell takes what a tab's documents have now: a list that nobody has checked.
	Tell(profileID string, tabID int, documents json.RawMessage)
	// Has reports whether a document of a tab offers a tool.
	Has(profileID string, tabID int, tool string) bool
}

// ServePageTools says who wants to know which tools pages register, before the first browser connects; nil: nobody.
func (h *Hub) ServePageTools(p PageTools) { h.cfg.PageTools = p }

// FollowPageTools has a browser tell which tools the pages of some tabs register, from now on until they show other
// pages. It does not wait; a browser that is not connected, or does not know of it, tells nothing.
func (h *Hub) FollowPageTools(profileID string, tabs []int) {
	b := h.find(profileID)
	if b == nil || h.cfg.PageTools == nil || len(tabs) == 0 {
		return
	}
	params, err := json.Marshal(map[string]any{"tabIds": tabs})
	if err != nil {
		return
	}
	frame, err := wire.Encode(&wire.Command{ID: call.ID(wire.NewID()), Name: "pagetools.follow", Params: params}, nil)
	if err != nil {
		return
	}
	b.peek(func(s *calls) {
		if s.conn != nil && h.current(&s.conn.hello) { // an older one would not take the frame
			s.conn.queue.put(frame, false) // nobody waits for the reply
		}
	})
}

// offers reports whether a tab has the page's tool that a call is for, if it is for one.
func (s *search) offers(b *browser, t *tab) bool {
	return s.r.PageTool == "" || s.hub.cfg.PageTools != nil && s.hub.cfg.PageTools.Has(b.id, t.ID, s.r.PageTool)
}

// tabWithTool finds a tab whose page offers the tool: the one that is named; else the one where the session used tools
// of pages last, or which it opened; else the one that the person most likely means.
func (s *search) tabWithTool() (t target, failure *fault.Error) {
	if s.r.TabID != 0 {
		if t, failure = s.namedTab(); failure == nil && !s.offers(t.b, t.tab) {
			return target{}, toolGone(fmt.Sprintf("The documents in tab %d", t.tab.ID), t.b.at(t.tab.ID))
		}
		return t, failure
	}
	last, opened := s.hub.lastTabs.recall(s.r)
	for _, c := range s.connected() {
		of := slices.DeleteFunc(slices.Clone(s.of(c.b)), func(tab *tab) bool { return !s.offers(c.b, tab) })
		if len(of) == 0 {
			continue
		}
		for _, known := range []lastTab{opened, last} {
			at := slices.IndexFunc(of, func(tab *tab) bool { return tab.ID == known.tabID })
			if at >= 0 && known.profileID == c.b.id {
				return target{c.b, c.conn, of[at]}, nil
			}
		}
		if tab, _ := s.hub.leases.prefer(s.r.Session, c.b, of); t.tab == nil || better(tab, t.tab) < 0 {
			t = target{c.b, c.conn, tab}
		}
	}
	switch {
	case t.tab != nil:
		return t, nil
	case len(s.connected()) == 0:
		s.mayAppear = s.connecting()
		return t, s.hub.absent()
	}
	return t, toolGone("The pages that are open")
}

// registerTime is how long a call waits for a page to register its tool: a page that was just loaded does it in a
// moment, and one that nobody has looked at is looked at first.
const registerTime = time.Second

// awaitTool says how long it makes sense to wait until a page offers the tool of a call.
func (h *Hub) awaitTool(r *call.Selector) time.Duration {
	first, left := h.awaitNews(r.ID, registerTime)
	if first {
		h.lookForTool(r)
	}
	return left
}

// awaitNews says how much is left of the time that an attempt may wait for what browsers are going to tell, and whether
// that begins now.
func (h *Hub) awaitNews(id call.ID, most time.Duration) (first bool, left time.Duration) {
	since, waits := h.awaited.LoadOrStore(id, time.Now())
	began, _ := since.(time.Time)
	return !waits, max(0, most-time.Since(began))
}

// lookForTool has browsers look at the pages that may offer the tool of a call.
func (h *Hub) lookForTool(r *call.Selector) {
	origin, _, _ := strings.Cut(r.PageTool, "\n")
	for _, c := range h.candidates() {
		var tabs []int
		for _, tab := range c.b.tabs.Load().list {
			if tab.ID == r.TabID || r.TabID == 0 && tab.origin == origin {
				tabs = append(tabs, tab.ID)
			}
		}
		h.FollowPageTools(c.b.id, tabs)
	}
}

// toolGone is the failure of a call of a page's tool that nobody offers any more, or only with other words.
func toolGone(who string, about ...fault.Option) *fault.Error {
	return fault.New(fault.ToolGone, who+" no longer offer this tool as it was listed", about...)
}

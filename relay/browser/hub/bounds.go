package hub

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// bounds are the tabs in which the calls of a session may run. The zero bounds are all.
type bounds struct {
	tabs match.Tabs
	list []string
}

// boundsOf are the bounds of a session: an agent that acts for a client may be kept to some tabs, nobody else is.
func boundsOf(s call.Session) (b bounds, failure *fault.Error) {
	if s.Bounds == nil || len(s.Bounds.Tabs) == 0 {
		return b, nil
	}
	b.list = s.Bounds.Tabs
	var err error
	if b.tabs, err = match.NewTabs(b.list); err != nil {
		return b, fault.New(fault.PermissionDenied, "The tabs of this errand cannot be read: "+err.Error(),
			fault.WithOutcome(fault.NotExecuted))
	}
	return b, nil
}

func (b *bounds) cover(t *tab) bool { return b.tabs.Covers(t.ID, t.URL) }

// only leaves out the tabs that are outside.
func (b *bounds) only(tabs []*tab) []*tab {
	if b.list == nil {
		return tabs
	}
	return slices.DeleteFunc(slices.Clone(tabs), func(t *tab) bool { return !b.cover(t) })
}

// refuse is the failure of a call that is meant for a tab outside, 0 for no certain one.
func (b *bounds) refuse(tabID int) *fault.Error {
	message := "The call matches none of the tabs that this errand may use"
	if tabID != 0 {
		message = "Tab " + strconv.Itoa(tabID) + " is outside the tabs that this errand may use"
	}
	return fault.New(fault.PermissionDenied, message, fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("The errand is bound to these tabs: "+fault.Sanitize(strings.Join(b.list, ", "))+
			". Do not look for a way around it; say in your answer what you could not do."))
}

// RefuseTab says why a session may neither see nor open a page in a tab, nil when it may. A tab that is to be opened
// has the id 0.
func RefuseTab(s call.Session, tabID int, address string) *fault.Error {
	b, failure := boundsOf(s)
	if failure == nil && !b.tabs.Covers(tabID, address) {
		if failure = b.refuse(tabID); tabID == 0 {
			failure.Message = "This errand may not open that address"
		}
	}
	return failure
}

// refuseAddress says why a call may not take its tab to the address it names; nil when it may, or names none.
func refuseAddress(r *call.Invocation) *fault.Error {
	if r.Session.Bounds == nil || r.Viewer == "" {
		return nil
	}
	var named struct {
		To string `json:"to"`
	}
	if json.Unmarshal(r.Arguments, &named) != nil || !strings.Contains(named.To, "://") {
		return nil
	}
	failure := RefuseTab(r.Session, 0, named.To)
	if failure != nil {
		failure.Outcome = fault.NotExecuted
	}
	return failure
}

// of lists the tabs of the call's site that it may use, the best first.
func (s *search) of(b *browser) []*tab { return s.bounds.only(b.tabs.Load().of(s.where)) }

// none is the failure of a call for whose site there is no tab: none at all, or none that it may use.
func (s *search) none() *fault.Error {
	for _, c := range s.connected() {
		if len(c.b.tabs.Load().of(s.where)) > 0 {
			return s.bounds.refuse(0)
		}
	}
	return noTab(s.r, "")
}

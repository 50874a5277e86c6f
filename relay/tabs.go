package relay

import (
	"fmt"
	"net/http"
	"strconv"
	"tabrelay/relay/builtin"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/hub"
	"tabrelay/relay/policy"
)

// Tabs is the answer of GET /api/v1/tabs.
type Tabs struct {
	Tabs []TabStatus `json:"tabs"`
}

// TabStatus is one open tab with a web page, and who works there.
type TabStatus struct {
	ProfileID string     `json:"profileId"`
	Profile   string     `json:"profile"` // its label
	TabID     int        `json:"tabId"`
	URL       string     `json:"url"`
	Title     string     `json:"title"`
	Active    bool       `json:"active"` // in front in its window
	Discarded bool       `json:"discarded"`
	Owner     *hub.Owner `json:"owner"`
	Acting    bool       `json:"acting"` // a call runs there
}

func (r *Relay) showTabs(w http.ResponseWriter, _ *http.Request) {
	answer := Tabs{Tabs: []TabStatus{}}
	for _, t := range r.hub.Tabs() {
		answer.Tabs = append(answer.Tabs, TabStatus{
			ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, URL: t.URL, Title: t.Title,
			Active: t.Active, Discarded: t.Discarded, Owner: t.Owner, Acting: t.Acting,
		})
	}
	reply(w, http.StatusOK, answer)
}

// openTabNow opens a tab for the person, whom nobody has to ask.
func (r *Relay) openTabNow(w http.ResponseWriter, req *http.Request) {
	var t builtin.NewTab
	if failure := readBody(w, req, &t); failure != nil {
		refuse(w, http.StatusBadRequest, failure)
		return
	}
	session, _ := sender(req.Context())
	answer, failure := builtin.TabsOf(r.hub).Open(req.Context(), call.Call{Session: session}, t)
	if failure != nil {
		refuse(w, http.StatusConflict, failure)
		return
	}
	reply(w, http.StatusOK, answer)
}

// Released is the answer of DELETE /api/v1/tabs/{profile}/{tab}/owner.
type Released struct {
	Released hub.Owner `json:"released"`
}

// releaseTab takes a tab away from its owner. Calls of it that run go on; its next one is like anybody's.
func (r *Relay) releaseTab(w http.ResponseWriter, req *http.Request) {
	profile := req.PathValue("profile")
	tab, err := strconv.Atoi(req.PathValue("tab"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, excerpt(req.PathValue("tab"))+" is not the id of a tab",
			fault.WithHint("GET /api/v1/tabs lists the tabs.")))
		return
	}
	owner := r.ownerOf(profile, tab)
	var change *policy.Change
	if owner != nil {
		change = policy.NewChange("A tab is taken away from the agent that works in it", fmt.Sprintf("tabrelay tabs release %d", tab),
			policy.Difference{What: fmt.Sprintf("tab %d in %s", tab, r.labelOf(profile)), Before: "for " + owner.Name + " alone", After: "for the next agent that changes something there"})
	}
	by, ok := r.confirmed(w, req, change)
	if !ok {
		return
	}
	if now := r.ownerOf(profile, tab); owner != nil && now != nil && now.Session == owner.Session { // whom it was confirmed for
		owner = r.hub.Release(profile, tab)
	} else {
		owner = nil
	}
	if owner == nil {
		refuse(w, http.StatusNotFound, fault.New(fault.ResourceNotFound, fmt.Sprintf("No agent owns the tab %d", tab),
			fault.WithHint("GET /api/v1/tabs, or `tabrelay tabs`, shows which tabs have an owner.")))
		return
	}
	session, _ := sender(req.Context())
	r.Log.Info().Str("client", owner.Client).Str("profile", profile).Int("tab", tab).Str("by", by).Msg("a tab was taken away from its owner")
	r.audit.Record(call.Entry{
		At: time.Now(), Kind: call.EntryTab, Session: session, ProfileID: profile, Profile: r.labelOf(profile), TabID: tab,
		Decision: "released", DecidedBy: by, Detail: fmt.Sprintf("The tab %d was taken away from %s, which had it since %s", tab, owner.Name, owner.Since.UTC().Format(time.RFC3339)),
	})
	reply(w, http.StatusOK, Released{*owner})
}

// ownerOf is whose a tab is; nil: nobody's.
func (r *Relay) ownerOf(profileID string, tabID int) *hub.Owner {
	for _, t := range r.hub.Tabs() {
		if t.ProfileID == profileID && t.ID == tabID {
			return t.Owner
		}
	}
	return nil
}

// labelOf is what people call a profile; empty when nobody knows it.
func (r *Relay) labelOf(profileID string) string {
	for _, b := range r.hub.Browsers() {
		if b.ProfileID == profileID {
			return b.Label
		}
	}
	return ""
}

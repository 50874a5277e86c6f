package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tabrelay/relay/builtin"
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

func (a *API) showTabs(w http.ResponseWriter, _ *http.Request) {
	answer := Tabs{Tabs: []TabStatus{}}
	for _, t := range a.Hub.Tabs() {
		answer.Tabs = append(answer.Tabs, TabStatus{
			ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, URL: t.URL, Title: t.Title,
			Active: t.Active, Discarded: t.Discarded, Owner: t.Owner, Acting: t.Acting,
		})
	}
	Reply(w, http.StatusOK, answer)
}

// forgetProfile answers DELETE /api/v1/profiles/{id}: the profile is not used any more. It comes back when it connects.
func (a *API) forgetProfile(w http.ResponseWriter, req *http.Request) {
	id := req.PathValue("id")
	if !a.Hub.Forget(id) {
		Refuse(w, http.StatusConflict, fault.New(fault.InvalidRequest, "The profile "+a.labelOf(id)+" is connected",
			fault.WithHint("close its browser, or switch the extension off there, first.")))
		return
	}
	if err := a.Store.ForgetProfile(req.Context(), id); err != nil {
		Refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "The profile is not forgotten: "+
			err.Error()))
		return
	}
	Reply(w, http.StatusOK, map[string]string{"forgotten": id})
}

// openTabNow opens a tab for the person, whom nobody has to ask.
func (a *API) openTabNow(w http.ResponseWriter, req *http.Request) {
	var t builtin.NewTab
	if failure := ReadBody(w, req, &t, `{"url": "https://example.com/"}`); failure != nil {
		Refuse(w, http.StatusBadRequest, failure)
		return
	}
	session := Sender(req.Context())
	answer, failure := builtin.TabsOf(a.Hub).Open(req.Context(), call.Call{Session: session}, t)
	if failure != nil {
		Refuse(w, http.StatusConflict, failure)
		return
	}
	Reply(w, http.StatusOK, answer)
}

// Released is the answer of DELETE /api/v1/tabs/{profile}/{tab}/owner.
type Released struct {
	Released hub.Owner `json:"released"`
}

// releaseTab takes a tab away from its owner. Calls of it that run go on; its next one is like anybody's.
func (a *API) releaseTab(w http.ResponseWriter, req *http.Request) {
	profile := req.PathValue("profile")
	tab, err := strconv.Atoi(req.PathValue("tab"))
	if err != nil {
		Refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, fault.Excerpt(req.PathValue("tab"))+
			" is not the id of a tab",
			fault.WithHint("GET /api/v1/tabs lists the tabs.")))
		return
	}
	owner := a.ownerOf(profile, tab)
	var change *policy.Change
	if owner != nil {
		change = policy.NewChange("A tab is taken away from the agent that works in it",
			fmt.Sprintf("tabrelay tabs release %d", tab),
			call.Difference{What: fmt.Sprintf("tab %d in %s", tab, a.labelOf(profile)), Before: "for " + owner.Name +
				" alone", After: "for the next agent that changes something there"})
	}
	by, ok := a.confirmed(w, req, change)
	if !ok {
		return
	}
	// whom it was confirmed for
	if now := a.ownerOf(profile, tab); owner != nil && now != nil && now.Session == owner.Session {
		owner = a.Hub.Release(profile, tab)
	} else {
		owner = nil
	}
	if owner == nil {
		Refuse(w, http.StatusNotFound, fault.New(fault.ResourceNotFound, fmt.Sprintf("No agent owns the tab %d", tab),
			fault.WithHint("GET /api/v1/tabs, or `tabrelay tabs`, shows which tabs have an owner.")))
		return
	}
	session := Sender(req.Context())
	a.Log.Info().Str("client", owner.Client).Str("profile", profile).Int("tab", tab).Str("by",
		by).Msg("a tab was taken away from its owner")
	a.Audit.Record(call.Entry{
		At: time.Now(), Kind: call.EntryTab, Session: session, ProfileID: profile, Profile: a.labelOf(profile),
		TabID:    tab,
		Decision: "released", DecidedBy: by, Detail: fmt.Sprintf("The tab %d was taken away from %s, which had it "+
			"since %s", tab, owner.Name, owner.Since.UTC().Format(time.RFC3339)),
	})
	Reply(w, http.StatusOK, Released{*owner})
}

// ownerOf is whose a tab is; nil: nobody's.
func (a *API) ownerOf(profileID string, tabID int) *hub.Owner {
	for _, t := range a.Hub.Tabs() {
		if t.ProfileID == profileID && t.ID == tabID {
			return t.Owner
		}
	}
	return nil
}

// labelOf is what people call a profile; empty when nobody knows it.
func (a *API) labelOf(profileID string) string {
	for _, b := range a.Hub.Browsers() {
		if b.ProfileID == profileID {
			return b.Label
		}
	}
	return ""
}

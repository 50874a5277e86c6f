package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
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

func (a *API) showTabs(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	answer := Tabs{Tabs: []TabStatus{}}
	for _, t := range a.Hub.Tabs() {
		answer.Tabs = append(answer.Tabs, TabStatus{
			ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, URL: t.URL, Title: t.Title,
			Active: t.Active, Discarded: t.Discarded, Owner: t.Owner, Acting: t.Acting,
		})
	}
	return answer, nil
}

// forgetProfile answers DELETE /api/v1/profiles/{id}: the profile is not used any more. It comes back when it connects.
func (a *API) forgetProfile(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	id := req.PathValue("id")
	if !a.Hub.Forget(id) {
		return nil, NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest,
			"The profile "+a.labelOf(id)+" is connected",
			fault.WithHint("close its browser, or switch the extension off there, first.")))
	}
	if err := a.Store.ForgetProfile(req.Context(), id); err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
			"The profile is not forgotten: "+
				err.Error()))
	}
	return map[string]string{"forgotten": id}, nil
}

// openTabNow opens a tab for the person, whom nobody has to ask.
func (a *API) openTabNow(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var t builtin.NewTab
	if failure := ReadBody(w, req, &t, `{"url": "https://example.com/"}`); failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	answer, failure := builtin.TabsOf(a.Hub).Open(req.Context(), call.Call{Session: Sender(req.Context())}, t)
	if failure != nil {
		return nil, NewRefusal(http.StatusConflict, failure)
	}
	return answer, nil
}

// Released is the answer of DELETE /api/v1/tabs/{profile}/{tab}/owner.
type Released struct {
	Released hub.Owner `json:"released"`
}

// releaseTab takes a tab away from its owner. Calls of it that run go on; its next one is like anybody's.
func (a *API) releaseTab(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	profile := req.PathValue("profile")
	tab, err := strconv.Atoi(req.PathValue("tab"))
	if err != nil {
		return nil, NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			fault.Excerpt(req.PathValue("tab"))+
				" is not the id of a tab",
			fault.WithHint("GET /api/v1/tabs lists the tabs.")))
	}
	owner := a.ownerOf(profile, tab)
	var change *policy.Change
	if owner != nil {
		change = policy.NewChange("A tab is taken away from the agent that works in it",
			fmt.Sprintf("tabrelay tabs release %d", tab),
			call.Difference{What: fmt.Sprintf("tab %d in %s", tab, a.labelOf(profile)), Before: "for " + owner.Name +
				" alone", After: "for the next agent that changes something there"})
	}
	by, denied := a.Confirmed(w, req, change)
	if denied != nil {
		return nil, denied
	}
	// whom it was confirmed for
	if now := a.ownerOf(profile, tab); owner != nil && now != nil && now.Session == owner.Session {
		owner = a.Hub.Release(profile, tab)
	} else {
		owner = nil
	}
	if owner == nil {
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.ResourceNotFound,
			fmt.Sprintf("No agent owns the tab %d", tab),
			fault.WithHint("GET /api/v1/tabs, or `tabrelay tabs`, shows which tabs have an owner.")))
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
	return Released{*owner}, nil
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

// ProfileView is a browser profile that has connected.
type ProfileView struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Connected bool      `json:"connected"`
	Seen      time.Time `json:"seen"` // when it was connected last
	Own       bool      `json:"own"`  // of the panel that asks
	Tabs      int       `json:"tabs"`
	Owned     int       `json:"owned"` // of these tabs, those that an agent works in
}

// ProfilesView is the answer of GET /api/v1/profiles, the profile that was connected last first.
type ProfilesView struct {
	Profiles []ProfileView `json:"profiles"`
}

func (a *API) showProfiles(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	known, err := a.Store.Profiles(req.Context())
	if err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
			"The list of profiles cannot be read: "+err.Error(),
			fault.WithHint(databaseHint(err))))
	}
	connected := map[string]string{}
	for _, b := range a.Hub.Browsers() {
		if b.Connected {
			connected[b.ProfileID] = b.Label
		}
	}
	tabs, owned := map[string]int{}, map[string]int{}
	for _, t := range a.Hub.Tabs() {
		tabs[t.ProfileID]++
		if t.Owner != nil {
			owned[t.ProfileID]++
		}
	}
	own := AtProfile(Sender(req.Context()))
	view := ProfilesView{Profiles: []ProfileView{}}
	for _, p := range known {
		one := ProfileView{ID: p.ID, Label: review.Legible(p.Label), Seen: p.Seen,
			Own: p.ID == own, Tabs: tabs[p.ID], Owned: owned[p.ID]}
		if label, here := connected[p.ID]; here {
			one.Label, one.Connected, one.Seen = review.Legible(label), true, time.Now().UTC().Truncate(time.Second)
		}
		view.Profiles = append(view.Profiles, one)
	}
	return view, nil
}

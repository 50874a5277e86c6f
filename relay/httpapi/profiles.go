package httpapi

import (
	"net/http"
	"time"

	"tabrelay/relay/fault"
	"tabrelay/relay/review"
)

// ProfileView is a browser profile that has connected.
type ProfileView struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Connected bool      `json:"connected"`
	Seen      time.Time `json:"seen"` // when it was connected last
	Own       bool      `json:"own"`  // of the panel that asks
}

// ProfilesView is the answer of GET /api/v1/profiles, the profile that was connected last first.
type ProfilesView struct {
	Profiles []ProfileView `json:"profiles"`
}

func (a *API) showProfiles(w http.ResponseWriter, req *http.Request) {
	known, err := a.Store.Profiles(req.Context())
	if err != nil {
		Refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError,
			"The list of profiles cannot be read: "+err.Error(),
			fault.WithHint(databaseHint(err))))
		return
	}
	connected := map[string]string{}
	for _, b := range a.Hub.Browsers() {
		if b.Connected {
			connected[b.ProfileID] = b.Label
		}
	}
	own := AtProfile(Sender(req.Context()))
	view := ProfilesView{Profiles: []ProfileView{}}
	for _, p := range known {
		one := ProfileView{ID: p.ID, Label: review.Legible(p.Label), Seen: p.Seen,
			Own: p.ID == own}
		if label, here := connected[p.ID]; here {
			one.Label, one.Connected, one.Seen = review.Legible(label), true, time.Now().UTC().Truncate(time.Second)
		}
		view.Profiles = append(view.Profiles, one)
	}
	Reply(w, http.StatusOK, view)
}

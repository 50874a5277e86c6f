package relay

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/review"
	"tabrelay/relay/store"
)

// sheet is what a person should see of a plugin now.
func (v *reviews) sheet(name string) (review.Sheet, *fault.Error) {
	v.mu.Lock()
	f := v.found[name]
	var before *review.Content
	var reviewed *review.Reviewed
	if f != nil {
		if before = v.lastAccepted(name); before != nil {
			one := v.decided[content{name, before.Plugin.Hash}]
			reviewed = &review.Reviewed{Hash: one.Hash, At: one.Created.UTC(), By: one.By}
		}
	}
	v.mu.Unlock() // the rest may take a while, and f never changes
	if f == nil {
		return review.Sheet{}, noPlugin(name)
	}
	s := review.New(review.Read(f.plugin), before)
	s.Source, s.State, s.Reviewed, s.Serving = review.Legible(f.source), f.state, reviewed, f.serving
	return s, nil
}

func noPlugin(name string) *fault.Error {
	return fault.New(fault.ResourceNotFound, "There is no plugin "+excerpt(name)+" to review",
		fault.WithHint("`tabrelay plugin list` lists the plugins. Those that come with tabrelay need no review, and those that are broken cannot be reviewed."))
}

func changedSince(name string) *fault.Error {
	return fault.New(fault.InvalidRequest, "The plugin "+name+" has changed since you looked at it, so nothing was decided", fault.WithHint("Look at it again, and then decide."))
}

// Decision is the body of POST /api/v1/reviews/{plugin}.
type Decision struct {
	Hash    string `json:"hash"`    // of the content that was looked at
	Verdict string `json:"verdict"` // accept or refuse
}

// decide writes down what a person decided about the content that lies in a plugin's folder. When that is not the one
// they looked at, nothing changes.
func (v *reviews) decide(ctx context.Context, name string, d Decision, by string) (verdict store.Verdict, status int, failure *fault.Error) {
	verdict, ok := map[string]store.Verdict{"accept": store.Accepted, "refuse": store.Refused}[d.Verdict]
	if !ok {
		return verdict, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The verdict is neither accept nor refuse", fault.WithHint(`Send {"hash": "…", "verdict": "accept"}.`))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.found[name]
	switch {
	case f == nil:
		return verdict, http.StatusNotFound, noPlugin(name)
	case f.plugin.Hash != d.Hash:
		return verdict, http.StatusConflict, changedSince(name)
	}
	one := store.Review{Plugin: name, Hash: d.Hash, Created: time.Now(), By: by, Verdict: verdict}
	var packed []byte
	if verdict == store.Accepted {
		var err error
		if packed, err = review.Read(f.plugin).Pack(); err != nil {
			return verdict, http.StatusInternalServerError, fault.New(fault.InternalError, "The review was not written down: "+err.Error())
		}
	}
	if err := v.store.AddReview(ctx, one, packed); err != nil {
		return verdict, http.StatusInternalServerError, fault.New(fault.InternalError, "The review was not written down: "+err.Error(), fault.WithHint("`tabrelay doctor` looks at the disk and the database."))
	}
	v.decided[content{name, d.Hash}] = one
	if verdict == store.Accepted {
		v.kept[name] = d.Hash
	} else if v.kept[name] == d.Hash {
		delete(v.kept, name)
	}
	return verdict, http.StatusOK, nil
}

// develop lets one content of a plugin run while its author works on it, until end is called.
func (v *reviews) develop(name, hash, seat string) (end func()) {
	s := &developing{content: content{name, hash}, seat: seat}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sessions = append(v.sessions, s)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.sessions = slices.DeleteFunc(v.sessions, func(other *developing) bool { return other == s })
	}
}

// develops reports whether a run of `plugin dev` is one that was confirmed for a plugin, and is not over.
func (v *reviews) develops(name, seat string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.sessions, func(s *developing) bool { return s.content.plugin == name && s.seat == seat })
}

// admitPlugins leaves of a person's plugins what may run. offer.mu is held.
func (r *Relay) admitPlugins(added []plugin.Entry) {
	withheld, news := r.reviews.admit(added)
	r.offer.withheld = withheld
	if !news {
		return
	}
	r.news(topicReviews, topicPlugins)
	for _, one := range r.reviews.waiting() {
		r.Log.Warn().Str("plugin", one.Plugin).Str("hash", one.Hash).Bool("new", one.New).Msg("the plugin waits for a person's review")
	}
}

// recordReview writes what a person decided about a plugin into the audit log.
func (r *Relay) recordReview(s call.Session, plugin, hash, decision, by string) {
	r.record(call.Entry{
		At: time.Now(), Kind: call.EntryReview, Session: s, Plugin: plugin, Decision: decision, DecidedBy: by,
		Detail: fmt.Sprintf("content %s of the plugin %s", hash, plugin),
	})
}

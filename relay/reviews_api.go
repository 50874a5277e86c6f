package relay

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/review"
	"tabrelay/relay/wire"
)

// panelSheet is how much of a plugin a side panel is given to read, in bytes of text. JSON makes more of some of them.
const panelSheet = 1 << 20

// listReviews answers GET /api/v1/reviews: what waits for a person.
func (r *Relay) listReviews(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"reviews": r.reviews.waiting(), "required": r.reviews.areRequired()})
}

// showReview answers GET /api/v1/reviews/{plugin}.
func (r *Relay) showReview(w http.ResponseWriter, req *http.Request) {
	sheet, failure := r.reviews.sheet(req.PathValue("plugin"))
	if failure != nil {
		refuse(w, http.StatusNotFound, failure)
		return
	}
	if session, _ := sender(req.Context()); session.Via == call.ViaPanel && sheet.Size() > panelSheet {
		refuse(w, http.StatusRequestEntityTooLarge, fault.New(fault.OutputTooLarge, "The plugin "+sheet.Plugin+" is too large to be read here, so it stays as it is",
			fault.WithHint("In a terminal: tabrelay plugin review "+sheet.Plugin)))
		return
	}
	reply(w, http.StatusOK, sheet)
}

// decideReview answers POST /api/v1/reviews/{plugin} with how far the plugin is then.
func (r *Relay) decideReview(w http.ResponseWriter, req *http.Request) {
	d, ok := decision(w, req)
	if !ok {
		return
	}
	session, _ := sender(req.Context())
	name := req.PathValue("plugin")
	change, status, failure := r.accepting(name, d)
	if failure != nil {
		refuse(w, status, failure)
		return
	}
	by, ok := r.confirmed(w, req, change)
	if !ok {
		return
	}
	verdict, status, failure := r.reviews.decide(req.Context(), name, d, by)
	if failure != nil {
		refuse(w, status, failure)
		return
	}
	r.recordReview(session, name, d.Hash, string(verdict), by)
	if failure := r.offerAgain(); failure != nil {
		refuse(w, http.StatusUnprocessableEntity, failure)
		return
	}
	r.news(topicReviews, topicPlugins)
	answer := ReviewStatus{Plugin: name, Hash: d.Hash} // if it went meanwhile
	for _, one := range r.reviews.list() {
		if one.Plugin == name {
			answer = one
		}
	}
	reply(w, http.StatusOK, answer)
}

// accepting is what accepting a plugin allows; nil: nothing, because that is accepted already, or the verdict is another.
func (r *Relay) accepting(name string, d Decision) (c *policy.Change, status int, failure *fault.Error) {
	if d.Verdict != "accept" {
		return nil, 0, nil
	}
	sheet, failure := r.reviews.sheet(name)
	switch {
	case failure != nil:
		return nil, http.StatusNotFound, failure
	case sheet.Hash != d.Hash:
		return nil, http.StatusConflict, changedSince(name)
	case sheet.State == review.Accepted:
		return nil, 0, nil
	}
	return running(sheet, "reviewed, and runs", "tabrelay plugin review "+name), 0, nil
}

// running is what letting a content of a plugin run changes.
func running(s review.Sheet, after, command string) *policy.Change {
	before := map[bool]string{true: "off", false: "the content that was reviewed before runs"}[s.Serving == ""]
	if s.Serving == s.Hash {
		before = "runs while plugin dev does"
	}
	return policy.NewChange("The plugin "+s.Plugin+" may run", command, policy.Difference{What: "content " + s.Hash[:12], Before: before, After: after}).Reading(s.Permissions...)
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// decision reads the body of a decision.
func decision(w http.ResponseWriter, req *http.Request) (d Decision, ok bool) {
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<10))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || !hashForm.MatchString(d.Hash) {
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body is no decision", fault.WithHint(`Send {"hash": "…", "verdict": "accept"} with the hash of what was looked at.`)))
		return d, false
	}
	return d, true
}

// DevelopHeader names one run of plugin dev, which was confirmed once: the relay chooses it, and the next build of that
// run brings it along while the one before is still served.
const DevelopHeader = "Tabrelay-Development"

// developHere answers POST /api/v1/reviews/{plugin}/dev, which `plugin dev` sends from a terminal: the content runs as
// long as the request lasts, and at most until the relay ends. The answer begins when it may.
func (r *Relay) developHere(w http.ResponseWriter, req *http.Request) {
	d, ok := decision(w, req)
	if !ok {
		return
	}
	session, _ := sender(req.Context())
	name, seat := req.PathValue("plugin"), req.Header.Get(DevelopHeader)
	var change *policy.Change
	if !r.reviews.develops(name, seat) {
		sheet, failure := r.reviews.sheet(name)
		if failure != nil {
			refuse(w, http.StatusNotFound, failure)
			return
		}
		change = policy.NewChange("Each build of the plugin "+name+" may run while plugin dev does", "tabrelay plugin dev",
			policy.Difference{What: name, Before: "off until a person reviewed a build", After: "each build runs without a review, until plugin dev ends"}).Reading(sheet.Permissions...)
		seat = wire.NewID()
	}
	by, ok := r.confirmed(w, req, change)
	if !ok {
		return
	}
	end := r.reviews.develop(name, d.Hash, seat)
	r.recordReview(session, name, d.Hash, "accepted while plugin dev runs", by)
	w.Header().Set(DevelopHeader, seat)
	defer func() {
		end()
		_ = r.offerAgain() // which tells what is wrong itself
	}()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		_ = control.SetWriteDeadline(time.Now().Add(eventWrite)) // one that cannot be set does not fail later
		if _, err := w.Write([]byte("\n")); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-beat.C:
		case <-req.Context().Done():
			return
		case <-r.stop:
			return
		}
	}
}

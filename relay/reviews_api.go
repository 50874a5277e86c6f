package relay

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"time"

	"tabrelay/relay/fault"
)

// panelSheet is how much of a plugin a side panel is given to read, in bytes of text. JSON makes more of some of them.
const panelSheet = 1 << 20

// listReviews answers GET /api/v1/reviews: what waits for a person.
func (r *Relay) listReviews(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"reviews": r.reviews.waiting(), "required": r.config.Review.Required})
}

// showReview answers GET /api/v1/reviews/{plugin}.
func (r *Relay) showReview(w http.ResponseWriter, req *http.Request) {
	sheet, failure := r.reviews.sheet(req.PathValue("plugin"))
	if failure != nil {
		refuse(w, http.StatusNotFound, failure)
		return
	}
	if session, _ := sender(req.Context()); session.Via == viaPanel && sheet.Size() > panelSheet {
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
	verdict, status, failure := r.reviews.decide(req.Context(), name, d, decidedBy(session))
	if failure != nil {
		refuse(w, status, failure)
		return
	}
	r.recordReview(session, name, d.Hash, string(verdict))
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

// developHere answers POST /api/v1/reviews/{plugin}/dev, which `plugin dev` sends from a terminal: the content runs as
// long as the request lasts, and at most until the relay ends. The answer begins when it may.
func (r *Relay) developHere(w http.ResponseWriter, req *http.Request) {
	d, ok := decision(w, req)
	if !ok {
		return
	}
	session, _ := sender(req.Context())
	name := req.PathValue("plugin")
	end := r.reviews.develop(name, d.Hash)
	r.recordReview(session, name, d.Hash, "accepted while plugin dev runs")
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
		if _, err := w.Write(newline); err != nil || control.Flush() != nil {
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

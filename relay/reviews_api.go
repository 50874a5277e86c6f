package relay

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/review"
	"tabrelay/relay/store"
	"tabrelay/relay/wire"
)

// panelSheet is how much of a plugin a side panel is given to read, in bytes of text. JSON makes more of some of them.
const panelSheet = 1 << 20

// listReviews answers GET /api/v1/reviews: what waits for a person.
func (r *Relay) listReviews(w http.ResponseWriter, _ *http.Request) {
	_, required := r.catalog.Reviews()
	reply(w, http.StatusOK, map[string]any{"reviews": r.catalog.Waiting(), "required": required})
}

// showReview answers GET /api/v1/reviews/{plugin}.
func (r *Relay) showReview(w http.ResponseWriter, req *http.Request) {
	sheet, failure := r.catalog.Sheet(req.PathValue("plugin"))
	if failure != nil {
		refuse(w, reviewStatus(failure), failure)
		return
	}
	if session, _ := sender(req.Context()); session.Via == call.ViaPanel && sheet.Size() > panelSheet {
		refuse(w, http.StatusRequestEntityTooLarge, fault.New(fault.OutputTooLarge, "The plugin "+sheet.Plugin+" is too large to be read here, so it stays as it is",
			fault.WithHint("In a terminal: tabrelay plugin review "+sheet.Plugin)))
		return
	}
	reply(w, http.StatusOK, sheet)
}

// Decision is the body of POST /api/v1/reviews/{plugin}.
type Decision struct {
	Hash    string `json:"hash"`    // of the content that was looked at
	Verdict string `json:"verdict"` // accept or refuse
}

// decideReview answers POST /api/v1/reviews/{plugin} with how far the plugin is then.
func (r *Relay) decideReview(w http.ResponseWriter, req *http.Request) {
	d, ok := decision(w, req)
	if !ok {
		return
	}
	verdict, ok := map[string]store.Verdict{"accept": store.Accepted, "refuse": store.Refused}[d.Verdict]
	if !ok {
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The verdict is neither accept nor refuse", fault.WithHint(`Send {"hash": "…", "verdict": "accept"}.`)))
		return
	}
	name := req.PathValue("plugin")
	change, failure := r.accepting(name, d.Hash, verdict)
	if failure != nil {
		refuse(w, reviewStatus(failure), failure)
		return
	}
	by, ok := r.confirmed(w, req, change)
	if !ok {
		return
	}
	session, _ := sender(req.Context())
	answer, failure := r.catalog.Decide(name, d.Hash, verdict, by, session)
	if failure != nil {
		refuse(w, reviewStatus(failure), failure)
		return
	}
	reply(w, http.StatusOK, answer)
}

// reviewStatus is the HTTP status of what cannot be reviewed or decided.
func reviewStatus(f *fault.Error) int {
	switch {
	case errors.Is(f, catalog.ErrStale):
		return http.StatusConflict
	case f.Code == fault.ResourceNotFound:
		return http.StatusNotFound
	case f.Code == fault.RegistryError:
		return http.StatusUnprocessableEntity
	case f.Code == fault.ShuttingDown:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// accepting is what accepting a plugin allows; nil: nothing, because that is accepted already, or the verdict is another.
func (r *Relay) accepting(name, hash string, verdict store.Verdict) (c *policy.Change, failure *fault.Error) {
	if verdict != store.Accepted {
		return nil, nil
	}
	sheet, failure := r.catalog.Sheet(name)
	switch {
	case failure != nil:
		return nil, failure
	case sheet.Hash != hash:
		return nil, catalog.Stale(name)
	case sheet.State == review.Accepted:
		return nil, nil
	}
	return running(sheet, "reviewed, and runs", "tabrelay plugin review "+name), nil
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
	name, run := req.PathValue("plugin"), req.Header.Get(DevelopHeader)
	var change *policy.Change
	if !r.catalog.Develops(name, run) {
		sheet, failure := r.catalog.Sheet(name)
		if failure != nil {
			refuse(w, reviewStatus(failure), failure)
			return
		}
		change = policy.NewChange("Each build of the plugin "+name+" may run while plugin dev does", "tabrelay plugin dev",
			policy.Difference{What: name, Before: "off until a person reviewed a build", After: "each build runs without a review, until plugin dev ends"}).Reading(sheet.Permissions...)
		run = wire.NewID()
	}
	by, ok := r.confirmed(w, req, change)
	if !ok {
		return
	}
	end, failure := r.catalog.Develop(name, d.Hash, run, by, session)
	if failure != nil {
		refuse(w, reviewStatus(failure), failure)
		return
	}
	defer end()
	w.Header().Set(DevelopHeader, run)
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

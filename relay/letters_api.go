package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"tabrelay/relay/builtin"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
)

// Limits of a page of dead letters.
const (
	lettersDefault = 100
	lettersMost    = 1000
)

// Repeat is the body of POST /api/v1/dead-letters/{id}/replay.
type Repeat struct {
	Confirmed bool `json:"confirmed"` // counts for nothing: where the tool does not only read, the person is asked
}

// showLetters answers GET /api/v1/dead-letters?limit=&cursor=.
func (r *Relay) showLetters(w http.ResponseWriter, req *http.Request) {
	limit := lettersDefault
	if text := req.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > lettersMost {
			refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, fmt.Sprintf("limit is not a whole number from 1 to %d", lettersMost)))
			return
		}
		limit = n
	}
	session, _ := sender(req.Context())
	page, failure := r.own.Letters.List(req.Context(), session, call.ID(req.URL.Query().Get("cursor")), limit)
	if failure != nil {
		refuse(w, statusOf(failure), failure)
		return
	}
	reply(w, http.StatusOK, page)
}

// showLetter answers GET /api/v1/dead-letters/{id}.
func (r *Relay) showLetter(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	l, failure := r.own.Letters.Find(req.Context(), session, call.ID(req.PathValue("id")))
	if failure != nil {
		refuse(w, statusOf(failure), failure)
		return
	}
	reply(w, http.StatusOK, r.own.Letters.View(l, false))
}

// replayLetter answers POST /api/v1/dead-letters/{id}/replay as a call is answered.
func (r *Relay) replayLetter(w http.ResponseWriter, req *http.Request) {
	var body Repeat
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<10))
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body is not an object", fault.WithHint(`Send {"confirmed": true}, or nothing.`)))
		return
	}
	session, _ := sender(req.Context())
	asks := false
	l, failure := r.own.Letters.Find(req.Context(), session, call.ID(req.PathValue("id")))
	if failure == nil {
		t, problem := r.own.Letters.Replayable(l)
		asks = problem == nil && !t.ReadOnly
		if failure = problem; asks && !policy.IsPerson(session) {
			failure = fault.New(fault.PermissionDenied, "Repeating "+l.Tool+" may change something twice, so the person has to be asked",
				fault.WithHint("In a terminal: tabrelay dead-letters replay "+string(l.ID)))
		}
	}
	if failure != nil {
		refuse(w, statusOf(failure), failure)
		return
	}
	if asks {
		change := policy.NewChange("A call that may have happened is made again", "tabrelay dead-letters replay "+string(l.ID),
			policy.Difference{What: l.Tool, Before: builtin.KnownOf(l), After: "is called again"}).Reading("Arguments: " + string(l.Arguments))
		if _, ok := r.confirmed(w, req, change); !ok {
			return
		}
	}
	r.carryOut(w, req, "", func(ctx context.Context, progress func(call.Progress)) (*call.Result, *fault.Error) {
		return r.own.Letters.Replay(ctx, l, call.Call{Session: session, Progress: progress, Consent: asks})
	})
}

// statusOf is the HTTP status of a request that is refused.
func statusOf(f *fault.Error) int {
	switch f.Code {
	case fault.NotFoundCode:
		return http.StatusNotFound
	case fault.PermissionDenied:
		return http.StatusForbidden
	case fault.InternalError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

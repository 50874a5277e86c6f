package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"tabrelay/relay/program/builtin"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
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
func (a *API) showLetters(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	limit := lettersDefault
	if text := req.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > lettersMost {
			return nil, NewRefusal(http.StatusBadRequest, malformed(
				fmt.Sprintf("limit is not a whole number from 1 to %d", lettersMost)))
		}
		limit = n
	}
	page, failure := a.Letters.List(req.Context(), Sender(req.Context()), call.ID(req.URL.Query().Get("cursor")), limit)
	if failure != nil {
		return nil, NewRefusal(statusOf(failure), failure)
	}
	return page, nil
}

// showLetter answers GET /api/v1/dead-letters/{id}.
func (a *API) showLetter(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	l, failure := a.Letters.Find(req.Context(), Sender(req.Context()), call.ID(req.PathValue("id")))
	if failure != nil {
		return nil, NewRefusal(statusOf(failure), failure)
	}
	return a.Letters.View(l, false), nil
}

// replayLetter answers POST /api/v1/dead-letters/{id}/replay as a call is answered.
func (a *API) replayLetter(w http.ResponseWriter, req *http.Request) {
	var body Repeat
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<10))
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body is not an object",
			fault.WithHint(`Send {"confirmed": true}, or nothing.`)))
		return
	}
	session := Sender(req.Context())
	asks := false
	l, failure := a.Letters.Find(req.Context(), session, call.ID(req.PathValue("id")))
	if failure == nil {
		t, problem := a.Letters.Replayable(l)
		asks = problem == nil && !t.ReadOnly
		if failure = problem; asks && !policy.IsPerson(session) {
			failure = fault.New(fault.PermissionDenied, "Repeating "+l.Tool+
				" may change something twice, so the person has to be asked",
				fault.WithHint("In a terminal: tabrelay dead-letters replay "+string(l.ID)))
		}
	}
	if failure != nil {
		Refuse(w, statusOf(failure), failure)
		return
	}
	if asks {
		change := policy.NewChange("A call that may have happened is made again", "tabrelay dead-letters replay "+
			string(l.ID),
			call.Difference{What: l.Tool, Before: builtin.KnownOf(l),
				After: "is called again"}).WithText("Arguments: " + string(l.Arguments))
		if _, denied := a.Confirmed(w, req, change); denied != nil {
			denied.Reply(w)
			return
		}
	}
	a.carryOut(w, req, "", func(ctx context.Context, progress func(call.Progress)) Answer {
		return answerOf(a.Letters.Replay(ctx, l, call.Call{Session: session, Progress: progress, Consent: asks}))
	})
}

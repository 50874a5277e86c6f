package handover

import (
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

// topic is what side panels look at.
const topic = "handovers"

// Open is the answer of GET /api/v1/handovers: what agents have asked the person to do by hand.
type Open struct {
	Handovers []View `json:"handovers"`
}

// Verdict is the body of POST /api/v1/handovers/{id}.
type Verdict struct {
	Answer string `json:"answer"` // done or cannot
}

func (d *desk) show(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	profile := httpapi.AtProfile(httpapi.Sender(req.Context()))
	return Open{slices.DeleteFunc(d.open.views(), func(v View) bool {
		return profile != "" && v.ProfileID != "" && v.ProfileID != profile
	})}, nil
}

func (d *desk) end(w http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	var v Verdict
	if failure := httpapi.ReadBody(w, req, &v, `{"answer": "done"}`); failure != nil {
		return nil, httpapi.NewRefusal(http.StatusBadRequest, failure)
	}
	how, known := map[string]ending{"done": done, "cannot": cannot}[v.Answer]
	if !known {
		return nil, httpapi.NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			"answer is not \"done\" or \"cannot\"", fault.WithHint(`Send {"answer": "done"}.`)))
	}
	session := httpapi.Sender(req.Context())
	by := policy.ByTerminal
	if session.Via == call.ViaPanel {
		by = policy.ByPanel
	}
	if !d.decide(req.PathValue("id"), how, session, by) {
		return nil, httpapi.NewRefusal(http.StatusGone, fault.New(fault.NotFoundCode,
			"The request is not open any more", fault.WithHint("Nothing is left to do: the agent no longer waits.")))
	}
	return struct{}{}, nil
}

// decide ends a request as the person says, and writes that down. It reports whether the request was open.
func (d *desk) decide(id string, how ending, session call.Session, by string) bool {
	ended := d.open.end(how, is(id))
	for _, v := range ended {
		d.Audit(call.Entry{At: time.Now(), Kind: call.EntryDecision, Session: session, Tool: toolName,
			ProfileID: v.ProfileID, Profile: v.Profile, TabID: v.TabID, Origin: v.Origin, Decision: string(how),
			DecidedBy: by, Detail: v.Client + " asked for the person's hand: " + v.Why})
	}
	return len(ended) > 0
}

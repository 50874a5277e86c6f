package fault

// Layer is where an agent meets a failure.
type Layer string

// The layers. Everything after a tool's name was found is a tool result, because a model can act on it.
const (
	InResult   Layer = "tool result"
	InProtocol Layer = "JSON-RPC error"
	InHTTP     Layer = "HTTP status"
	Unsaid     Layer = "no reply"
)

// Again says whether a failure of a situation is retryable.
type Again string

// The answers; AsTold is for what a page throws, where its own word counts.
const (
	Yes          Again = "yes"
	No           Again = "no"
	IfIdempotent Again = "when the tool is read-only or idempotent"
	IfNotStarted Again = "when the tool was not started"
	AsTold       Again = "as the page says"
)

// Situation is one way in which something goes wrong: what an agent gets then, why, and what to do. Several
// situations can have one code. What a situation leaves empty is as its code's row has it.
type Situation struct {
	ID    string // names it in tests: lower-case words with dashes
	Code  Code
	When  string // what happens
	Cause string // why, where that is not plain
	Next  string // the next step; empty: the row's
	Layer Layer
	Again Again
	Raise Source // where the source differs from the row's
	Types bool   // each failure has a type of its own
}

// Source is who failed.
func (s Situation) Source() Source {
	if s.Raise != "" {
		return s.Raise
	}
	return rows[s.Code].Source
}

// NextStep is what to do.
func (s Situation) NextStep() string {
	if s.Next != "" {
		return s.Next
	}
	return rows[s.Code].Hint
}

// Number is the JSON-RPC error code in the era of 2026-07-28 (modern) or before; for a tool's result it is rpcCode.
func (s Situation) Number(modern bool) int {
	row := rows[s.Code]
	switch {
	case s.Layer != InProtocol:
		return s.Source().Number()
	case modern && row.Modern != 0:
		return row.Modern
	case !modern && row.Legacy != 0:
		return row.Legacy
	}
	return -32603
}

// SituationOf finds a situation by its id.
func SituationOf(id string) (Situation, bool) {
	for _, s := range Situations() {
		if s.ID == id {
			return s, true
		}
	}
	return Situation{}, false
}

// Package situation is the table of everything that is known to go wrong, for the documentation and for the tests that
// provoke it; see package faulttest.
package situation

import (
	"slices"

	"tabrelay/relay/road/fault"
)

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
	Code  fault.Code
	When  string // what happens
	Cause string // why, where that is not plain
	Next  string // the next step; empty: the row's
	Layer Layer
	Again Again
	Raise fault.Source // where the source differs from the row's
	Types bool         // each failure has a type of its own
}

// Source is who failed.
func (s Situation) Source() fault.Source {
	if s.Raise != "" {
		return s.Raise
	}
	return s.row().Source
}

// NextStep is what to do.
func (s Situation) NextStep() string {
	if s.Next != "" {
		return s.Next
	}
	return s.row().Hint
}

// Number is the JSON-RPC error code in the era of 2026-07-28 (modern) or before; for a tool's result it is rpcCode.
func (s Situation) Number(modern bool) int {
	row := s.row()
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

func (s Situation) row() fault.Row {
	row, _ := fault.Lookup(s.Code) // a test looks for a code without one
	return row
}

// Find finds a situation by its id.
func Find(id string) (Situation, bool) {
	i := slices.IndexFunc(all, func(s Situation) bool { return s.ID == id })
	if i < 0 {
		return Situation{}, false
	}
	return all[i], true
}

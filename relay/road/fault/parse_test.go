package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parse reads the first text item of a failed call back. What is not in the text is filled in from the table, for
// a failure of the relay, or from the category, for one of a page.
func parse(text string) (*Error, error) {
	head, rest, _ := strings.Cut(text, "\n")
	fields, message, ok := strings.Cut(head, "] ")
	if !ok || !strings.HasPrefix(fields, headerStart) {
		return nil, errors.New("not a rendered failure: its first line does not start with [ERROR code=…]")
	}
	steps, b, err := body(rest)
	if err != nil {
		return nil, err
	}
	if want := b.header(); want != fields+"]" {
		return nil, fmt.Errorf("not a rendered failure: the header %s] differs from its block, which means %s", fields,
			want)
	}
	return b.restore(message, steps), nil
}

// body reads the lines after the header: steps, an empty line, and the block.
func body(rest string) (steps []string, b block, err error) {
	before, after, ok := strings.Cut(rest, "\n"+fence+"json\n")
	encoded, end := strings.CutSuffix(after, "\n"+fence)
	if !ok || !end || strings.Contains(encoded, "\n") {
		return nil, b, errors.New("not a rendered failure: it does not end with one fenced JSON block")
	}
	if err := json.Unmarshal([]byte(encoded), &b); err != nil {
		return nil, b, fmt.Errorf("the block of a rendered failure is not JSON: %w", err)
	}
	if before = strings.TrimSuffix(before, "\n"); before != "" {
		steps = strings.Split(before, "\n")
	}
	return steps, b, nil
}

// restore builds the failure again. Only failures of the relay say their outcome in the header.
func (b block) restore(message string, steps []string) *Error {
	e := &Error{
		Code: b.Code, Category: b.Category, Class: Tool, Message: message,
		Retryable: b.Retryable, RetryAfterMs: b.RetryAfterMs, Outcome: b.Outcome,
		Reason: b.Reason, TimeoutMs: b.TimeoutMs, CorrelationID: b.CorrelationID, SessionValid: b.SessionValid,
		FromPage: b.Outcome == "",
	}
	e.setSource()
	if row, ok := Lookup(b.Code); ok && !e.FromPage {
		e.Source, e.Class, e.Type = row.Source, row.Class, row.Type
		e.RPCCode = e.RPC()
	}
	e.readSteps(steps)
	return e
}

func (e *Error) readSteps(steps []string) {
	var next, advice []string
	for _, step := range steps {
		if text, ok := strings.CutPrefix(step, nextStep); ok {
			next = append(next, text)
		} else if text, ok := strings.CutPrefix(step, suggestion); ok {
			advice = append(advice, text)
		}
	}
	e.Hint, e.Suggestion = strings.Join(next, "\n"), strings.Join(advice, "\n")
}

// Package hint gives errors a next step: what the person who reads one can do about it.
package hint

import "errors"

// hinted is an error with its next step.
type hinted struct {
	error
	next string
}

func (h *hinted) Unwrap() error { return h.error }

// Hint is the next step.
func (h *hinted) Hint() string { return h.next }

// With gives an error its next step.
func With(err error, next string) error { return &hinted{err, next} }

// Of is the next step of an error, empty when it has none. Types of errors that say more have a Hint of their own.
func Of(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	return ""
}

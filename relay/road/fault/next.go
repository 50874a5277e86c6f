package fault

import (
	"errors"

	"tabrelay/relay/lib/called"
)

// hinted is an error with its next step.
type hinted struct {
	error
	next string
}

func (h *hinted) Unwrap() error { return h.error }

// Hint is the next step.
func (h *hinted) Hint() string { return h.next }

// Hinted gives an error a next step: what the person who reads it can do about it.
func Hinted(err error, next string) error { return &hinted{err, next} }

// HintOf is the next step of an error, empty when it has none. Types of errors that say more have a Hint of their own.
func HintOf(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return called.In(h.Hint())
	}
	return ""
}

package dispatch

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"syscall"

	"tabrelay/relay/road/effect"
	"tabrelay/relay/road/fault"
)

// failureByCause replaces a failure whose cause is a timeout, a cancel or the relay's end by the fault for that cause,
// with the outcome of f. Every other failure is returned as it is.
func (r *run) failureByCause(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	if f.FromPage {
		return f
	}
	cause := context.Cause(r.clock.ctx)
	if cause == nil && r.tool.Run != nil {
		return f // a built-in tool reports its own timeouts
	}
	if why, ok := errors.AsType[interrupted](cause); ok {
		if why.byRule && f.Code == fault.PermissionDenied { // its question ended with the rule, a moment earlier
			return f
		}
		return r.interruptedByPerson(f, why.why)
	}
	switch {
	case cause == nil && f.Code == fault.TimeoutCode:
		return r.timedOut(f, f.Reason)
	case cause == nil:
		return f
	case errors.Is(cause, errDeadline):
		return r.timedOut(f, r.clock.reason)
	case errors.Is(cause, errShutdown):
		return r.reworded(f, fault.ShuttingDown, "The relay shut down while the call ran")
	default:
		return r.reworded(f, fault.Cancelled, "The call was cancelled")
	}
}

// interruptedByPerson renders the failure of a call that a person ended, with the outcome of f.
func (r *run) interruptedByPerson(f *fault.Error, why string) *fault.Error {
	hint := "The tool never started. Do not call it again unless the person asks for it."
	switch {
	case f.Outcome == fault.NotExecuted:
	case r.tool.Idempotent:
		hint = "Do not repeat the call unless the person asks for it."
	default:
		hint = "The action may have happened: read the page to see, and do not repeat it unless the person asks for it."
	}
	options := append(r.carriedOver(f), fault.WithRetryable(false), fault.WithHint(hint))
	return fault.New(fault.Cancelled, why, options...)
}

// Hints that depend on the outcome, in place of those of the fault table.
const (
	harmless     = "Repeating the call is harmless."
	neverStarted = "The tool never started, so the call can be repeated."
	readFirst    = "The action may have happened: read the page before repeating it."
	askForMore   = " A larger `timeoutMs` gives the call longer."
	bringToFront = " The tab is not in front: Chrome slows the timers of its page, after five minutes to one a " +
		"minute. Ask the person to bring it to the front."
)

// advice returns the hint for an outcome.
func (r *run) advice(o fault.Outcome) string {
	switch {
	case o == fault.NotExecuted:
		return neverStarted
	case r.tool.Idempotent:
		return harmless
	}
	return readFirst
}

// reworded replaces code and message of a failure.
func (r *run) reworded(f *fault.Error, code fault.Code, message string) *fault.Error {
	return fault.New(code, message, append(r.carriedOver(f), fault.WithHint(r.advice(f.Outcome)))...)
}

// carriedOver are the options that give another fault the details of f.
func (r *run) carriedOver(f *fault.Error) []fault.Option {
	return []fault.Option{
		fault.WithOutcome(f.Outcome), fault.WithRetryable(r.tool.Idempotent || f.Outcome == fault.NotExecuted),
		fault.WithTab(f.TabID, f.Profile), fault.WithConsoleTail(f.ConsoleTail), fault.WithData(f.Data),
		fault.WithProvider(f.ProviderID), fault.WithCause(f.Err),
		func(e *fault.Error) {
			e.SessionID, e.SessionValid = f.SessionID, f.SessionValid
			e.Before, e.Facts, e.Untrusted = f.Before, f.Facts, f.Untrusted
		},
	}
}

// forAgent completes the failure of the last attempt for the agent. A call that may have run is retryable only if the
// tool is idempotent.
func (r *run) forAgent(f *fault.Error) *fault.Error {
	if !f.FromPage && f.Outcome == fault.Unknown {
		f.Retryable = r.tool.Idempotent && f.Class == fault.Transient // a tab that is gone does not come back
		if f.Code == fault.ExtensionLost && r.tool.Idempotent {
			f.Hint = harmless
		}
	}
	if r.tool.Browses && f.FromPage {
		f.Before, f.Facts, _ = effect.Before(r.args, f.Data)
	}
	return f
}

// classify gives an error of the link that has no code of its own a class: by its type, else by the HTTP status or the
// WebSocket close code it carries, else by the configured patterns. Errors of pages and errors with a code are left as
// they are: nothing is concluded from their messages.
func (r *run) classify(f *fault.Error) *fault.Error {
	if f.FromPage || f.Code != fault.InternalError || f.Err == nil {
		return f
	}
	class := byType(f.Err)
	if class == "" {
		class = byNumber(f.Err)
	}
	if class == "" {
		class = r.byPattern(f.Err.Error())
	}
	switch class {
	case fault.Fatal:
		f.Source, f.Class, f.Retryable = fault.SourceTransport, fault.Fatal, false
	case fault.Transient:
		f.Source, f.Class = fault.SourceTransport, fault.Transient
		f.Retryable = r.tool.Idempotent || f.Outcome == fault.NotExecuted
	default:
		return f
	}
	f.RPCCode = f.RPC()
	return f
}

// byType knows the errors of the network and of connections that end.
func byType(err error) fault.Class {
	for _, known := range []error{
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
		io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return fault.Transient
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fault.Transient
	}
	return ""
}

// byNumber classifies an error by its HTTP status or close code (RFC 9110 section 15, RFC 6455 section 7.4, and the
// close codes of relay/browser/wire).
func byNumber(err error) fault.Class {
	type status interface{ HTTPStatus() int }
	type closing interface{ CloseCode() int }
	if e, ok := errors.AsType[interface {
		error
		status
	}](err); ok {
		switch n := e.HTTPStatus(); {
		case n == 408 || n == 425 || n == 429 || n >= 500:
			return fault.Transient
		case n == 401 || n == 403:
			return fault.Fatal
		}
	}
	if e, ok := errors.AsType[interface {
		error
		closing
	}](err); ok {
		switch n := e.CloseCode(); {
		case n == 4401 || n == 4406:
			return fault.Fatal
		case n == 1001 || n == 1006 || n >= 1011 && n <= 1014:
			return fault.Transient
		}
	}
	return ""
}

func (r *run) byPattern(text string) fault.Class {
	matches := func(p *regexp.Regexp) bool { return p.MatchString(text) }
	switch {
	case slices.ContainsFunc(r.fatal, matches):
		return fault.Fatal
	case slices.ContainsFunc(r.transient, matches):
		return fault.Transient
	}
	return ""
}

func compiled(patterns []string) []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		list[i] = regexp.MustCompile(p)
	}
	return list
}

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

	"tabrelay/relay/fault"
)

// classify gives an error of the link that nobody has named a class: by its type, else by the HTTP status or the
// WebSocket close code it carries, else by the patterns a person configured. What a page threw, and what has a code
// of its own, is never touched: a message is no identity.
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
		f.Source, f.Class, f.Retryable = fault.SourceTransport, fault.Transient, r.tool.Idempotent || f.Outcome == fault.NotExecuted
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

// byNumber asks an error for the status or close code it stands for (RFC 9110 section 15, RFC 6455 section 7.4, and
// the close codes of relay/wire).
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

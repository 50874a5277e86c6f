package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// exitSignal is added to the number of the signal that ended a command, as shells do.
const exitSignal = 128

// stopped is the cause of the end of a context that a signal ended.
type stopped struct{ signal os.Signal }

func (s *stopped) Error() string { return "stopped by " + s.name() }

// Is has it count as what it is: a context that was cancelled.
func (s *stopped) Is(target error) bool { return target == context.Canceled }

func (s *stopped) name() string {
	switch s.signal {
	case os.Interrupt:
		return "Ctrl-C (SIGINT)"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.signal.String()
}

// failure is the error of a command that was stopped; what says what became of it.
func (s *stopped) failure(what string) *failure {
	exit := exitFailed
	if number, ok := s.signal.(syscall.Signal); ok {
		exit = exitSignal + int(number)
	}
	return &failure{error: errors.New(s.Error() + " " + what), exit: exit}
}

// endedBy is a context that ends with the first of these signals. Those that follow change nothing: what ends in an
// orderly way is not cut short.
func endedBy(parent context.Context, signals ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, signals...)
	go func() {
		select {
		case s := <-arrived:
			cancel(&stopped{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(arrived)
		cancel(nil)
	}
}

// stoppedIn is the signal that ended a context; nil when none did.
func stoppedIn(ctx context.Context) *stopped {
	s, _ := errors.AsType[*stopped](context.Cause(ctx))
	return s
}

// unlessStopped reads what may not come for long. A read cannot be cancelled: one that is given up goes on until the
// process ends.
func unlessStopped[T any](ctx context.Context, read func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	var came T
	var failure error
	go func() {
		defer close(done)
		came, failure = read()
	}()
	select {
	case <-done:
		return came, failure
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// stoppedRequest is the error for a request that a signal ended, and says what became of it; nil when none did.
func stoppedRequest(ctx context.Context, method, path string) error {
	s := stoppedIn(ctx)
	switch {
	case s == nil:
		return nil
	case isCall(path):
		return s.failure("before the call ended; the relay cancels it, but it may have run").
			hinting("look at what it did before you repeat it; tabrelay audit shows how it ended")
	case method == http.MethodGet:
		return s.failure("before the relay had answered")
	}
	return s.failure("before the relay had answered; it may have done it all the same")
}

// isCall reports whether a request of this path runs a tool.
func isCall(path string) bool {
	return strings.HasSuffix(path, "/call") || strings.HasSuffix(path, "/replay")
}

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/browser"
	"tabrelay/relay/join"
)

// stopTime is how long a relay may take to end: the calls in flight are finished first.
const stopTime = 10 * time.Second

func (a *app) down() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop the relay, and the browser that tabrelay started", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stopAll(cmd.Context()) },
	}
}

// stopAll ends the relay and the managed browser; whichever does not run is no failure.
func (a *app) stopAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	var browserErr error
	if m, ok := browser.Running(a.home.Browser()); ok {
		browserErr = m.Stop(ctx)
		a.notef("The browser is closed.\n")
	}
	state, ok := join.Running(ctx, a.home)
	if !ok {
		a.notef("The relay is not running.\n")
		return browserErr
	}
	if err := a.stopRelay(ctx, state); err != nil {
		return errors.Join(err, browserErr)
	}
	a.notef("The relay is stopped.\n")
	return browserErr
}

// stopRelay asks the relay to end, and waits until its place is free.
func (a *app) stopRelay(ctx context.Context, state join.State) error {
	var answer struct{}
	if err := a.post(ctx, "/api/v1/stop", nil, &answer); err != nil && !gone(err) {
		a.notef("The relay does not answer (%v); it gets a signal.\n", err)
		process, err := os.FindProcess(state.PID)
		if err == nil {
			err = process.Signal(syscall.SIGTERM)
		}
		if err != nil {
			return failed("the relay with process id %d cannot be stopped: %w", state.PID, err)
		}
	}
	if !join.AwaitLockFree(ctx, a.home) {
		return failed("the relay with process id %d did not end within %s", state.PID, stopTime).hinting("end the process, then run: tabrelay down")
	}
	return nil
}

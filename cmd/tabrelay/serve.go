package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tabrelay/relay"
	"tabrelay/relay/config"
	"tabrelay/relay/join"
	"tabrelay/relay/logfile"
)

func (a *app) serve() *cobra.Command {
	var background, detached bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the relay in the foreground",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case background:
				return a.startInBackground(cmd.Context())
			case detached:
				return a.serveDetached(cmd.Context())
			}
			return a.serveHere(cmd.Context(), a.readable(a.err))
		},
	}
	cmd.Flags().BoolVar(&background, "background", false, "start the relay in the background and return when it answers")
	cmd.Flags().BoolVar(&detached, "detached", false, "be the relay in the background")
	_ = cmd.Flags().MarkHidden("detached") // fails only for a flag that does not exist
	return cmd
}

// starter starts relays with this very binary.
func (a *app) starter() (join.Starter, error) {
	if err := a.home.Create(); err != nil {
		return join.Starter{}, err
	}
	executable, err := join.Executable()
	return join.Starter{Executable: executable, Home: a.home}, err
}

// startInBackground is the process between a proxy and its relay: it ends at once, so that the relay is nobody's
// child.
func (a *app) startInBackground(ctx context.Context) error {
	starter, err := a.starter()
	if err != nil {
		return err
	}
	_, err = starter.Detach(ctx)
	return err
}

// serveHere is the relay in this process.
func (a *app) serveHere(ctx context.Context, watchers ...io.Writer) error {
	r, log, err := a.open(ctx, watchers...)
	if err != nil {
		return err
	}
	return errors.Join(r.Run(ctx), log.Close())
}

// serveDetached is the relay that another process waits for. stderr is a pipe to it: until the relay answers, what
// is written there is why it cannot; then its state, in one line; then nobody reads any more.
func (a *app) serveDetached(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE)
	r, log, err := a.open(ctx)
	var running *join.RunningError
	if errors.As(err, &running) {
		return json.NewEncoder(a.err).Encode(running.State) // as good as one of our own
	}
	if err != nil {
		return err
	}
	r.Ready = func(state join.State) {
		if err := json.NewEncoder(a.err).Encode(state); err != nil {
			log.Debug().Err(err).Msg("whoever started the relay does not wait for it")
		}
		a.err = io.Discard
	}
	return errors.Join(r.Run(ctx), log.Close())
}

// open reads the configuration and makes a relay that answers.
func (a *app) open(ctx context.Context, watchers ...io.Writer) (*relay.Relay, *logfile.Log, error) {
	if err := a.home.Create(); err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(a.home)
	if err != nil {
		return nil, nil, err
	}
	log, err := logfile.Open(a.home.Log(), cfg.Logging.Level, watchers...)
	if err != nil {
		return nil, nil, err
	}
	log.Capture()
	for _, warning := range cfg.Warnings {
		log.Warn().Msg(warning)
	}
	executable, err := join.Executable()
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	r, err := relay.New(ctx, cfg, relay.Options{Home: a.home, Log: log.Logger, Executable: executable})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return r, log, nil
}

// readable writes log lines for a person when one watches.
func (a *app) readable(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return zerolog.ConsoleWriter{Out: w, NoColor: true, TimeFormat: "15:04:05"}
	}
	return w
}

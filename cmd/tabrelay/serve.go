package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/logfile"
)

// stopTimeout is how long a relay may take to end: the calls in flight are finished first.
const stopTimeout = 10 * time.Second

func (a *app) serve() *cobra.Command {
	var background, detached, temporary bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the relay in the foreground",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case background:
				return a.startInBackground(cmd.Context())
			case detached:
				return a.serveDetached(cmd.Context(), temporary)
			}
			return a.serveForeground(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&background, "background", false, "start the relay in the background and return when it "+
		"answers")
	cmd.Flags().BoolVar(&detached, "detached", false, "be the relay in the background")
	cmd.Flags().BoolVar(&temporary, "temporary", false, "with --detached: end soon after the last command")
	_ = cmd.Flags().MarkHidden("detached")  // fails only for a flag that does not exist
	_ = cmd.Flags().MarkHidden("temporary") // as above
	return cmd
}

// starter starts relays with this executable.
func (a *app) starter() (join.Starter, error) {
	if err := a.home.Create(); err != nil {
		return join.Starter{}, err
	}
	executable, err := join.Executable()
	return join.Starter{Executable: executable, Home: a.home}, err
}

// startInBackground starts a detached relay. The proxy runs it in an intermediate process, which ends at once, so that
// the relay is not a child of the proxy.
func (a *app) startInBackground(ctx context.Context) error {
	starter, err := a.starter()
	if err != nil {
		return err
	}
	_, err = starter.Detach(ctx)
	return err
}

// serveForeground runs the relay in this process and prints its log.
func (a *app) serveForeground(ctx context.Context) error {
	out := a.err
	if a.hasViewer() {
		out = zerolog.ConsoleWriter{Out: a.err, NoColor: true, TimeFormat: "15:04:05"}
	}
	r, log, err := a.openRelay(ctx, "", out)
	if err != nil {
		return err
	}
	return errors.Join(r.Run(ctx), log.Close())
}

// serveDetached runs the relay for a process that waits until it is ready. stderr is a pipe to that process: it gets
// the state of the relay as one line of JSON, or the error why it cannot run. Nobody reads the pipe afterwards.
func (a *app) serveDetached(ctx context.Context, temporary bool) error {
	signal.Ignore(syscall.SIGPIPE)
	circumstances := ""
	if temporary {
		circumstances = join.Circumstances(a.home)
	}
	r, log, err := a.openRelay(ctx, circumstances)
	if running, ok := errors.AsType[*join.RunningError](err); ok {
		return json.NewEncoder(a.err).Encode(running.State) // that relay serves as well
	}
	if err != nil {
		return err
	}
	r.Ready = func(state join.State) {
		if err := json.NewEncoder(a.err).Encode(state); err != nil {
			log.Debug().Err(err).Msg("the process that started the relay does not wait for it")
		}
		a.err = io.Discard
	}
	return errors.Join(r.Run(ctx), log.Close())
}

// openRelay reads the configuration and makes a relay that answers. temporary is empty for one that stays, which takes
// the place of a temporary one; see [relay.Options].
func (a *app) openRelay(ctx context.Context, temporary string, copies ...io.Writer) (*relay.Relay, *logfile.Log,
	error) {
	setCalled()
	if err := a.home.Create(); err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(a.home)
	if err != nil {
		return nil, nil, err
	}
	log, err := logfile.Open(a.home.Log(), cfg.Logging.Level, copies...)
	if err != nil {
		return nil, nil, err
	}
	log.Capture()
	for _, warning := range cfg.Warnings {
		log.Warn().Msg(warning)
	}
	if temporary == "" {
		join.EndTemporary(ctx, a.home)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(startGC))
	r, err := relay.New(ctx, cfg, relay.Options{Home: a.home, Log: log.Logger, Repair: a.repairApart(),
		Temporary: temporary})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return r, log, nil
}

// repairApart has this program, in a process of its own, do what is done about a finding; nil: it cannot be found.
func (a *app) repairApart() func(finding string) error {
	executable, err := join.Executable()
	if err != nil {
		return nil
	}
	return join.Starter{Executable: executable, Home: a.home}.Repair
}

// startGC lets the heap grow while a relay starts, instead of collecting again and again what a small one has
// allocated: of 115 ms of processor time with 100 plugins, 14 ms were that. The relay gives the memory back once it is
// calm.
const startGC = 400

func (a *app) down() *cobra.Command {
	var force bool
	var profile string
	cmd := &cobra.Command{
		Use: "down", Short: "Stop the relay, and the browsers that tabrelay started",
		Long: "Stop the relay, and the browsers that tabrelay started. The calls in flight are finished first.\n\n" +
			"--profile closes only the browser that `tabrelay up --profile` started with that name.\n\n" +
			"--force kills a relay that does not answer. The next relay asks the browsers for what this one could " +
			"not write down.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch named := cmd.Flags().Changed("profile"); {
			case named && force:
				return usage("--force is about the relay, and --profile about a browser").hinting("pass one of them")
			case named:
				return a.stopNamed(cmd.Context(), profile)
			}
			return a.stopEverything(cmd.Context(), force)
		},
	}
	a.profileFlag(cmd, &profile, "close only the browser of this name")
	cmd.Flags().BoolVar(&force, "force", false, "end a relay that does not answer")
	return cmd
}

// stopNamed closes the managed browser of a name. That it does not run is no failure.
func (a *app) stopNamed(ctx context.Context, name string) error {
	if !config.IsBrowserName(name) {
		return noBrowserName(name)
	}
	names := a.home.Browsers()[1:]
	if !slices.Contains(names, name) {
		return failed("tabrelay up has started no browser with a profile %q%s", name, suggestion(name, names))
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return a.stopBrowser(ctx, name)
}

// stopBrowser closes the managed browser of a name, and what is left of one that died.
func (a *app) stopBrowser(ctx context.Context, name string) error {
	folder := a.home.Browser(name)
	if m, ok := launch.Running(folder); ok {
		err := m.Stop(ctx)
		if name != "" {
			name = " of the profile " + name
		}
		a.notef("The browser%s is closed.\n", name)
		return err
	}
	if m, ok := launch.Died(folder); ok {
		return m.Stop(ctx)
	}
	return nil
}

// stopAll ends the relay and the managed browsers. That one of them does not run is no failure.
func (a *app) stopAll(ctx context.Context) error { return a.stopEverything(ctx, false) }

func (a *app) stopEverything(ctx context.Context, force bool) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var browserErr error
	for _, name := range a.home.Browsers() {
		browserErr = errors.Join(browserErr, a.stopBrowser(ctx, name))
	}
	join.EndTemporary(ctx, a.home)
	state, ok := join.Answering(ctx, a.home)
	if !ok {
		a.notef("The relay is not running.\n")
		return browserErr
	}
	stop := a.stopRelay
	if force {
		stop = a.forceStop
	}
	if err := stop(ctx, state); err != nil {
		return errors.Join(err, browserErr)
	}
	a.notef("The relay is stopped.\n")
	return browserErr
}

// stopRelay asks the relay to end, and waits until the instance lock is free.
func (a *app) stopRelay(ctx context.Context, state join.State) error {
	var answer struct{}
	err := a.post(ctx, "/api/v1/stop", nil, &answer)
	if errors.Is(err, errStuck) {
		return failed("%w within %s (process %d)", errStuck, answerTime, state.PID).
			hinting("tabrelay down --force ends it")
	}
	if err != nil && !relayGone(err) {
		a.notef("The relay does not answer (%v); it gets a signal.\n", err)
		if err := signalRelay(state, syscall.SIGTERM); err != nil {
			return err
		}
	}
	return a.awaitEnd(ctx, state)
}

// forceStop ends a relay that does not answer at once; one that answers is stopped as always.
func (a *app) forceStop(ctx context.Context, state join.State) error {
	if err := a.unlessStuck(ctx, state); err == nil {
		return a.stopRelay(ctx, state)
	}
	a.notef("The relay does not answer; its process %d is killed.\n", state.PID)
	if err := signalRelay(state, syscall.SIGKILL); err != nil {
		return err
	}
	return a.awaitEnd(ctx, state)
}

func signalRelay(state join.State, signal os.Signal) error {
	process, err := os.FindProcess(state.PID)
	if err == nil {
		err = process.Signal(signal)
	}
	if err != nil {
		return failed("the relay with process id %d cannot be stopped: %w", state.PID, err)
	}
	return nil
}

// awaitEnd waits until a relay that is to end has released the instance lock.
func (a *app) awaitEnd(ctx context.Context, state join.State) error {
	defer a.progress("Waiting for the relay to end; it finishes the calls in flight")()
	if !join.AwaitLockFree(ctx, a.home) {
		return failed("the relay with process id %d did not end within %s", state.PID, stopTimeout).
			hinting("tabrelay down --force ends it")
	}
	return nil
}

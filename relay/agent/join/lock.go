// Package join lets many processes share one relay. The instance lock decides which process is the relay, relay.json
// says where it listens, programs of the same user reach it over a socket in the home folder, and the stdio proxy
// behind `tabrelay mcp` connects one MCP client to it and reconnects when the relay restarts.
//
// Secrets never travel over TCP here. Only the owner can open the socket (0600, in a private folder), while any
// local program can bind the relay's port before the relay does.
package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/state/config"
)

// StartTimeout is how long a program waits for a relay to start, to end or to be replaced.
const StartTimeout = 5 * time.Second

// pollInterval is the pause between two attempts on a lock or a socket that another process holds.
const pollInterval = 10 * time.Millisecond

// State is the content of relay.json: where the running relay listens.
type State struct {
	Address string `json:"address"` // host and port of its HTTP listener
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Build   string `json:"build,omitempty"` // see [Build]
	// Temporary is set when it was started for a command, and ends by itself: its [Circumstances].
	Temporary string `json:"temporary,omitempty"`
}

// RunningError says that another relay already serves this home folder.
type RunningError struct{ State State }

// Error names the other relay.
func (e *RunningError) Error() string {
	return fmt.Sprintf("a relay is already running for this home folder (pid %d, %s)", e.State.PID, e.State.Address)
}

// Hint is the next step.
func (e *RunningError) Hint() string { return "tabrelay status shows it, tabrelay down stops it" }

// InstanceLock is held by the one relay of a home folder.
type InstanceLock struct {
	home config.Home
	lock *flock.Flock
}

// AcquireLock takes the instance lock. While another process holds it, AcquireLock waits at most [StartTimeout] for
// that process to end; when that process answers on its socket, the error is a *RunningError.
func AcquireLock(ctx context.Context, home config.Home) (*InstanceLock, error) {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	for {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", home.Lock(), err)
		}
		if locked {
			l := &InstanceLock{home: home, lock: lock}
			return l, l.removeState()
		}
		if state, ok := Answering(ctx, home); ok {
			return nil, &RunningError{State: state}
		}
		if !async.Sleep(ctx, pollInterval) {
			return nil, unresponsive(home)
		}
	}
}

// removeState deletes relay.json. On an error the lock is released, too.
func (l *InstanceLock) removeState() error {
	if err := os.Remove(l.home.State()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("cannot remove %s: %w", l.home.State(), err), l.lock.Unlock())
	}
	return nil
}

// unresponsive is the error for a relay that holds the lock and does not answer.
func unresponsive(home config.Home) error {
	state, err := ReadState(home)
	if err != nil {
		return fmt.Errorf("another process holds %s and does not answer; find it with: lsof %q", home.Lock(),
			home.Lock())
	}
	return fmt.Errorf("the relay with process id %d holds %s and does not answer; end that process, then try again",
		state.PID, home.Lock())
}

// WriteState writes relay.json atomically.
func (l *InstanceLock) WriteState(state State) error {
	text, err := json.Marshal(state)
	if err == nil {
		err = diskfile.Write(l.home.State(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", l.home.State(), err)
	}
	return nil
}

// Release deletes relay.json and releases the lock.
func (l *InstanceLock) Release() error {
	if err := l.removeState(); err != nil {
		return err
	}
	return l.lock.Unlock()
}

// ReadState reads relay.json, which may have been left by a relay that crashed: [Running] checks that.
func ReadState(home config.Home) (state State, err error) {
	text, err := os.ReadFile(home.State())
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	return state, err
}

// Running returns the state of the relay if one answers on the socket. A temporary one, which ends by itself, does not
// count: for whoever starts none, none runs.
func Running(ctx context.Context, home config.Home) (State, bool) {
	state, ok := Answering(ctx, home)
	return state, ok && state.Temporary == ""
}

// Answering is [Running], with temporary relays.
func Answering(ctx context.Context, home config.Home) (State, bool) {
	conn, err := Dial(ctx, home)
	if err != nil {
		return State{}, false
	}
	_ = conn.Close() // nothing was written
	state, err := ReadState(home)
	return state, err == nil
}

// LockFree reports whether no process holds the instance lock.
func LockFree(home config.Home) bool {
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	return err == nil && locked && lock.Unlock() == nil
}

// AwaitLockFree waits until no process holds the instance lock; it reports whether that happened before ctx ended.
func AwaitLockFree(ctx context.Context, home config.Home) bool {
	for !LockFree(home) {
		if !async.Sleep(ctx, pollInterval) {
			return false
		}
	}
	return true
}

// Package join lets many processes share one relay. A lock elects it, relay.json says where it listens, a socket
// in the home folder lets programs of the same person in, and the shim behind `tabrelay mcp` attaches an MCP
// client to it, through restarts.
//
// Nothing secret travels here over TCP: whoever may open the socket (0600, in a folder closed to others) is the
// person the relay belongs to, while a port can be squatted by anyone.
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
	"github.com/google/renameio/v2/maybe"

	"tabrelay/relay/config"
)

// Patience is how long a program waits for a relay that is starting, ending or being replaced.
const Patience = 5 * time.Second

// pause is between two looks at a lock or a socket that another process owns and says nothing about.
const pause = 10 * time.Millisecond

// State is relay.json: where the running relay is.
type State struct {
	Address string `json:"address"` // host and port of its HTTP listener
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// RunningError says that another relay already serves this home folder.
type RunningError struct{ State State }

// Error names the other relay.
func (e *RunningError) Error() string {
	return fmt.Sprintf("a relay is already running for this home folder (pid %d, %s)", e.State.PID, e.State.Address)
}

// Hint is the next step.
func (e *RunningError) Hint() string { return "tabrelay status shows it, tabrelay down stops it" }

// Seat is the place of the one relay of a home folder. Whoever holds it is the relay.
type Seat struct {
	home config.Home
	lock *flock.Flock
}

// Take takes the seat. When another process holds it, Take waits until that one either answers on its socket,
// which is a *RunningError, or ends, for at most [Patience].
func Take(ctx context.Context, home config.Home) (*Seat, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	for {
		taken, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", home.Lock(), err)
		}
		if taken {
			s := &Seat{home: home, lock: lock}
			if err := s.clear(); err != nil {
				return nil, err
			}
			return s, nil
		}
		if state, ok := Running(ctx, home); ok {
			return nil, &RunningError{State: state}
		}
		if !wait(ctx) {
			return nil, silent(home)
		}
	}
}

// clear removes what a relay that crashed left announced: nobody is to take it for this one's.
func (s *Seat) clear() error {
	if err := os.Remove(s.home.State()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("cannot remove %s: %w", s.home.State(), err), s.lock.Unlock())
	}
	return nil
}

// silent describes a relay that holds the lock and does not answer.
func silent(home config.Home) error {
	state, err := ReadState(home)
	if err != nil {
		return fmt.Errorf("another process holds %s and does not answer; find it with: lsof %q", home.Lock(), home.Lock())
	}
	return fmt.Errorf("the relay with process id %d holds %s and does not answer; end that process, then try again", state.PID, home.Lock())
}

// Announce puts relay.json in its place. Readers see the old file or the new one, never half of one.
func (s *Seat) Announce(state State) error {
	text, err := json.Marshal(state)
	if err == nil {
		err = maybe.WriteFile(s.home.State(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", s.home.State(), err)
	}
	return nil
}

// Leave gives the seat back. What the relay announced goes first.
func (s *Seat) Leave() error {
	if err := s.clear(); err != nil {
		return err
	}
	return s.lock.Unlock()
}

// ReadState reads relay.json. It may be that of a relay that crashed; [Running] tells.
func ReadState(home config.Home) (state State, err error) {
	text, err := os.ReadFile(home.State())
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	return state, err
}

// Running returns the state of the relay that answers at this moment, if one does.
func Running(ctx context.Context, home config.Home) (State, bool) {
	conn, err := Dial(ctx, home)
	if err != nil {
		return State{}, false
	}
	_ = conn.Close() // it was only a knock
	state, err := ReadState(home)
	return state, err == nil
}

// Vacant reports whether no process holds the seat.
func Vacant(home config.Home) bool {
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil || !taken {
		return false
	}
	return lock.Unlock() == nil
}

// AwaitVacant waits until no process holds the seat.
func AwaitVacant(ctx context.Context, home config.Home) bool {
	for !Vacant(home) {
		if !wait(ctx) {
			return false
		}
	}
	return true
}

// wait lets a moment pass; it reports whether there is time for another look.
func wait(ctx context.Context) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

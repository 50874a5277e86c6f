package join

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"tabrelay/relay/config"
)

// StartError is what a relay said that could not start.
type StartError struct {
	Text string // its error output: `error: …` and `hint: …` lines
	Exit int    // its exit code; 0 when that is not known
}

// Error is what was wrong, without the words that the command line adds again.
func (e *StartError) Error() string {
	if said := e.lines("error: "); said != "" {
		return said
	}
	return e.Text
}

// Hint is the next step the relay named, if it did.
func (e *StartError) Hint() string { return e.lines("hint: ") }

func (e *StartError) lines(prefix string) string {
	var found []string
	for line := range strings.SplitSeq(e.Text, "\n") {
		if text, ok := strings.CutPrefix(line, prefix); ok {
			found = append(found, text)
		}
	}
	return strings.Join(found, "\n")
}

// Starter starts relays in the background.
type Starter struct {
	Executable string // of tabrelay
	Home       config.Home
	Env        []string // nil: this process's own
}

// Executable is the path of the running program, also when its file has been replaced by a newer one meanwhile.
func Executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where tabrelay is installed: %w", err)
	}
	return strings.TrimSuffix(path, " (deleted)"), nil // as Linux marks a file that is gone
}

// Start starts a relay unless one runs, and returns when it answers.
//
// The relay's parent is a process that ends at once, and it has a session of its own: a client that kills its
// process tree, its process group or its terminal does not take the relay along.
func (s Starter) Start(ctx context.Context) (State, error) {
	if state, ok := Running(ctx, s.Home); ok {
		return state, nil
	}
	cmd := exec.CommandContext(ctx, s.Executable, "serve", "--background")
	cmd.Env, cmd.Dir = s.environ(), string(s.Home)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && said.Len() > 0 {
		return State{}, &StartError{Text: strings.TrimSpace(said.String()), Exit: exit.ExitCode()}
	}
	if err != nil {
		return State{}, fmt.Errorf("cannot start %s: %w", s.Executable, err)
	}
	return ReadState(s.Home)
}

// Detach starts the relay itself, from the process in between, and waits for its first word: its state, or why
// it cannot run.
func (s Starter) Detach(ctx context.Context) (State, error) {
	said, mouth, err := os.Pipe()
	if err != nil {
		return State{}, fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer said.Close() // only read from
	cmd := exec.Command(s.Executable, "serve", "--detached")
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.SysProcAttr = s.environ(), string(s.Home), mouth, detached()
	err = errors.Join(cmd.Start(), mouth.Close())
	if err != nil {
		return State{}, fmt.Errorf("cannot start %s: %w", s.Executable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = said.Close() })
	defer stop()
	r := bufio.NewReader(said)
	first, err := r.ReadString('\n')
	var state State
	if err == nil && json.Unmarshal([]byte(first), &state) == nil && state.PID != 0 {
		return state, cmd.Process.Release()
	}
	rest, _ := io.ReadAll(r) // the first line alone says enough
	err = cmd.Wait()
	if text := strings.TrimSpace(first + string(rest)); text != "" {
		return State{}, &StartError{Text: text, Exit: cmd.ProcessState.ExitCode()}
	}
	return State{}, errors.Join(errors.New("the relay ended while it started"), ctx.Err(), err)
}

// environ is what a relay inherits. A client's token is not for it.
func (s Starter) environ() []string {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "TABRELAY_TOKEN=") && !strings.HasPrefix(entry, "TABRELAY_HOME=") {
			kept = append(kept, entry)
		}
	}
	return append(kept, "TABRELAY_HOME="+string(s.Home))
}

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
	"slices"
	"strings"

	"tabrelay/relay/state/config"
)

// StartError is what a relay printed that could not start.
type StartError struct {
	Text string // its error output: `error: …` and `hint: …` lines
	Exit int    // its exit code; 0 when that is not known
}

// Error is the text of the error lines, without the prefix that the command line adds again.
func (e *StartError) Error() string {
	if said := e.lines("error: "); said != "" {
		return said
	}
	return e.Text
}

// Hint is the text of the hint lines, empty when there are none.
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
}

// Executable is the path of the running program, even when its file was replaced by a newer one meanwhile.
func Executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot determine where tabrelay is installed: %w", err)
	}
	return strings.TrimSuffix(path, " (deleted)"), nil // how Linux marks a file that was removed
}

// Build tells builds of one version apart: the size and the time of the program's file. Empty when it cannot be read.
func Build() string {
	path, err := Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixMilli())
}

// Start starts a relay that stays unless one runs, and returns when it answers. One takes the place of a temporary one.
//
// The relay is a grandchild in a process session of its own (see [Starter.Detach]), so that it survives a client that
// kills its process tree, its process group or its terminal.
func (s Starter) Start(ctx context.Context) (State, error) {
	if state, ok := Running(ctx, s.Home); ok {
		return state, nil
	}
	cmd := exec.CommandContext(ctx, s.Executable, "serve", "--background")
	cmd.Env, cmd.Dir = s.environ(), string(s.Home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && stderr.Len() > 0 {
		return State{}, &StartError{Text: strings.TrimSpace(stderr.String()), Exit: exit.ExitCode()}
	}
	if err != nil {
		return State{}, fmt.Errorf("cannot start %s: %w", s.Executable, err)
	}
	return ReadState(s.Home)
}

// Detach runs in the intermediate process: it starts the relay, and waits until it answers.
func (s Starter) Detach(ctx context.Context) (State, error) { return s.detach(ctx) }

// detach starts a relay in a process session of its own and waits for the first line of its output, which is its state,
// or the reason why it cannot run.
func (s Starter) detach(ctx context.Context, flags ...string) (State, error) {
	output, relayEnd, err := os.Pipe()
	if err != nil {
		return State{}, fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer output.Close() // only read from
	cmd := exec.Command(s.Executable, append([]string{"serve", "--detached"}, flags...)...)
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.SysProcAttr = s.environ(), string(s.Home), relayEnd, detached()
	keepDescriptors()
	err = errors.Join(cmd.Start(), relayEnd.Close())
	if err != nil {
		return State{}, fmt.Errorf("cannot start %s: %w", s.Executable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = output.Close() })
	defer stop()
	r := bufio.NewReader(output)
	first, err := r.ReadString('\n')
	var state State
	if err == nil && json.Unmarshal([]byte(first), &state) == nil && state.PID != 0 {
		return state, cmd.Process.Release()
	}
	rest, _ := io.ReadAll(r) // on an error the first line has to do
	err = cmd.Wait()
	if text := strings.TrimSpace(first + string(rest)); text != "" {
		return State{}, &StartError{Text: text, Exit: cmd.ProcessState.ExitCode()}
	}
	return State{}, errors.Join(errors.New("the relay ended while it started"), ctx.Err(), err)
}

// Repair has a process of its own do what is done about one of the doctor's findings. That process outlives the relay
// that starts it, which it may end and start anew.
func (s Starter) Repair(finding string) error {
	cmd := exec.Command(s.Executable, "doctor", "--fix", "--only", finding)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = s.environ(), string(s.Home), detached()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && stderr.Len() > 0 {
		return &StartError{Text: strings.TrimSpace(stderr.String()), Exit: exit.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", s.Executable, err)
	}
	return nil
}

// ofStarter reports whether a variable says who starts the relay, or where, and nothing about the relay.
func ofStarter(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return name == "TABRELAY_TOKEN" || name == "TABRELAY_HOME" || name == config.SessionVariable
}

// environ is the relay's environment: this home folder, and nothing of who starts it.
func (s Starter) environ() []string {
	env := slices.DeleteFunc(os.Environ(), ofStarter)
	return append(env, "TABRELAY_HOME="+string(s.Home))
}

// Package autostart has the system start the relay when its person logs in, and again when it fails: as a user unit of
// systemd on Linux, as an agent of launchd on macOS. Neither needs an administrator.
//
// The files follow systemd.service(5), systemd.unit(5) and launchd.plist(5).
package autostart

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2/maybe"
)

// Program is what is started.
type Program struct {
	Executable string // absolute path of tabrelay
	Home       string // for TABRELAY_HOME; empty: the default
}

// System is what starts programs on one kind of system.
type System struct {
	Name string // for people: "systemd", "launchd"
	File string // which says what is started; absolute path

	text   func(Program) string
	start  [][]string // commands after the file was written
	stop   [][]string // commands before it is removed
	status []string
	refuse func(Program) error // what it cannot start; nil: nothing
}

// UnsupportedError says that this kind of system is not known.
type UnsupportedError struct{ OS string }

// Error says which.
func (e *UnsupportedError) Error() string {
	return "tabrelay cannot have " + e.OS + " start it"
}

// Hint is the next step.
func (e *UnsupportedError) Hint() string {
	return "nothing is lost: every connected client starts the relay by itself when there is none. To start it " +
		"earlier, run “tabrelay serve --background” at login"
}

// Environment is where a person's files are.
type Environment struct {
	OS     string // as runtime.GOOS
	Home   string
	Getenv func(string) string
	UID    int
}

// For returns what starts programs here.
func For(env Environment) (System, error) {
	switch env.OS {
	case "linux":
		return systemd(env), nil
	case "darwin":
		return launchd(env), nil
	}
	return System{}, &UnsupportedError{env.OS}
}

// Text is what the file says for a program.
func (s System) Text(p Program) string { return s.text(p) }

// Installed reports whether the file is there.
func (s System) Installed() bool {
	_, err := os.Stat(s.File)
	return err == nil
}

// CommandError is a command of the system that failed.
type CommandError struct {
	Command string
	Output  string
	Err     error
}

// Error shows the command and what it said.
func (e *CommandError) Error() string {
	said := strings.TrimSpace(e.Output)
	if said == "" {
		said = e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", e.Command, said)
}

// Hint is the next step.
func (e *CommandError) Hint() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "this system does not have the program; connected clients start the relay by themselves"
	}
	return "run the command in the session of the person the relay belongs to, not with sudo and not over a " +
		"connection that has no session"
}

// Unwrap returns what the command came to.
func (e *CommandError) Unwrap() error { return e.Err }

// Install writes the file and starts the program. When the system refuses, nothing of it stays.
func (s System) Install(ctx context.Context, p Program) error {
	if s.refuse != nil {
		if err := s.refuse(p); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(s.File)
	had := err == nil
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of %s: %w", s.File, err)
	}
	if err := maybe.WriteFile(s.File, []byte(s.text(p)), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", s.File, err)
	}
	err = run(ctx, s.start)
	switch {
	case err == nil:
		return nil
	case had:
		return errors.Join(err, maybe.WriteFile(s.File, old, 0o644))
	}
	return errors.Join(err, os.Remove(s.File))
}

// Uninstall stops the program and removes the file. removed is false when there was none.
func (s System) Uninstall(ctx context.Context) (removed bool, err error) {
	if !s.Installed() {
		return false, nil
	}
	stopped := run(ctx, s.stop[:1])
	if err := os.Remove(s.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("cannot remove %s: %w", s.File, err)
	}
	return true, errors.Join(stopped, run(ctx, s.stop[1:]))
}

// Status is what the system says of the program, in its own words.
func (s System) Status(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, s.status[0], s.status[1:]...).CombinedOutput()
	if text := strings.TrimSpace(string(out)); text != "" || err == nil {
		return text
	}
	return err.Error()
}

func run(ctx context.Context, commands [][]string) error {
	for _, c := range commands {
		out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput()
		if err != nil {
			return &CommandError{strings.Join(c, " "), string(out), err}
		}
	}
	return nil
}

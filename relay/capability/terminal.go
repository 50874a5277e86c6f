package capability

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// Command is a command that a capability adds to the program.
type Command struct {
	Under   string // the command that it belongs to; empty: it stands in the help
	Heading string // of the help, where it stands there
	Make    func(Terminal) *cobra.Command
}

// Terminal is what a command may ask of the program.
type Terminal struct {
	Version string
	Home    func() config.Home // known once a command runs
	// IsClient reports whether the command is a client's, whose token is in the environment, and not the person's.
	IsClient func() bool

	// Printf writes a part of the result, Notef something for the person who watches.
	Printf, Notef func(format string, args ...any)
	Table         func(rows ...[]string) error
	PrintJSON     func(v any) error
	// WithJSON adds --json to a command, and JSON reports whether it was given.
	WithJSON func(*cobra.Command) *cobra.Command
	JSON     func() bool

	// Get and Request ask the relay. Refused is what it said of a request that it refused; nil: that was not why.
	Get     func(ctx context.Context, path string, reply any) error
	Request func(ctx context.Context, method, path string, body, reply any) error
	Refused func(error) *fault.Error
	// Stream asks it for an answer that goes on, which whoever reads it closes.
	Stream func(ctx context.Context, method, path string, body any, accept string) (io.ReadCloser, error)
	// Call calls a tool as `tabrelay call` does: with its progress, and the questions of the person at the terminal.
	// CallFailed tells what its failure is and returns an error with the exit code that says so; Exit is an error's.
	Call       func(ctx context.Context, tool string, ask httpapi.Ask) (httpapi.Answer, error)
	CallFailed func(httpapi.Answer) error
	Exit       func(error) int
	// PrintValue prints a text as it is and another value as JSON in one line.
	PrintValue func(json.RawMessage) error
	// Read reads a file, or stdin for "-"; Arguments an object of JSON, which may be in a file (@FILE).
	Read      func(ctx context.Context, file string) ([]byte, error)
	Arguments func(ctx context.Context, text string) (json.RawMessage, error)
	// Entered is closed once the person presses Enter from now on. Where nobody can, it stays open.
	Entered func() <-chan struct{}
	// Reload has the relay, where one runs, read config.json again; NoteEffect does so and says from when on a setting
	// counts.
	Reload     func(ctx context.Context) error
	NoteEffect func(ctx context.Context, key string) error

	// Failed and Usage are failures with a next step: of what was tried, and of how the command was given.
	Failed, Usage func(next, format string, args ...any) error
	// Completing completes each argument from a list of its own, whose words may have what they are after a tab.
	Completing func(lists ...func(ctx context.Context) []string) cobra.CompletionFunc
	ShellWord  func(string) string // quotes a word of a shell command
}

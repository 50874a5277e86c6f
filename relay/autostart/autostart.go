// Package autostart has the system start the relay when its person logs in, and again when it fails: as a user unit of
// systemd on Linux, as an agent of launchd on macOS. Neither needs an administrator.
//
// The files follow systemd.service(5), systemd.unit(5) and launchd.plist(5).
package autostart

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

const label = "dev.tabrelay.relay"

func launchd(env Environment) System {
	file := filepath.Join(env.Home, "Library", "LaunchAgents", label+".plist")
	domain := "gui/" + strconv.Itoa(env.UID)
	return System{
		Name: "launchd", File: file, text: agentText,
		// bootstrap refuses an agent that is loaded; bootout fails when none is, and then there is nothing to do.
		start: [][]string{{"/bin/sh", "-c", "launchctl bootout " + domain + "/" + label +
			" 2>/dev/null; exec launchctl bootstrap " + domain + ` "$0"`, file}},
		stop:   [][]string{{"launchctl", "bootout", domain + "/" + label}},
		status: []string{"launchctl", "print", domain + "/" + label},
	}
}

// agentText is the property list.
func agentText(p Program) string {
	var b strings.Builder
	text := func(s string) string {
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(s)) // a Builder never fails
		return "<string>" + escaped.String() + "</string>"
	}
	b.WriteString(xml.Header +
		`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n" +
		`<plist version="1.0">` + "\n<dict>\n" +
		"  <key>Label</key>\n  " + text(label) + "\n" +
		"  <key>ProgramArguments</key>\n  <array>\n    " + text(p.Executable) + "\n    " + text("serve") +
		"\n  </array>\n")
	if p.Home != "" {
		b.WriteString("  <key>EnvironmentVariables</key>\n  <dict>\n    <key>TABRELAY_HOME</key>\n    " + text(p.Home) +
			"\n  </dict>\n")
	}
	b.WriteString("  <key>RunAtLoad</key>\n  <true/>\n" +
		"  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n" +
		"  <key>Umask</key>\n  <integer>63</integer>\n" + // 0077
		"</dict>\n</plist>\n")
	return b.String()
}

const unit = "tabrelay.service"

func systemd(env Environment) System {
	dir := env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Home, ".config")
	}
	return System{
		Name: "systemd", File: filepath.Join(dir, "systemd", "user", unit), text: unitText,
		start: [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", unit},
			{"systemctl", "--user", "restart", unit}},
		stop:   [][]string{{"systemctl", "--user", "disable", "--now", unit}, {"systemctl", "--user", "daemon-reload"}},
		status: []string{"systemctl", "--user", "is-active", unit},
		refuse: func(p Program) error {
			if strings.ContainsAny(p.Executable, "\"'\\") {
				return &PathError{p.Executable}
			}
			return nil
		},
	}
}

// PathError is a path of tabrelay that the system does not start programs from.
type PathError struct{ Path string }

// Error names it.
func (e *PathError) Error() string {
	return "systemd starts no program whose path has quotes or backslashes: " + e.Path
}

// Hint is the next step.
func (e *PathError) Hint() string { return "move tabrelay to another folder and try again" }

// unitText is the unit. The relay ends by itself with success when a person stops it, and is not started again then.
func unitText(p Program) string {
	var b strings.Builder
	b.WriteString("[Unit]\n" +
		"Description=tabrelay, a browser relay for AI agents\n" +
		"StartLimitIntervalSec=60\n" +
		"StartLimitBurst=5\n\n" +
		"[Service]\n" +
		"ExecStart=" + unitQuote(p.Executable) + " serve\n")
	if p.Home != "" {
		b.WriteString("Environment=" + unitQuote("TABRELAY_HOME="+p.Home) + "\n")
	}
	b.WriteString("Restart=on-failure\n" +
		"RestartSec=2\n" +
		"UMask=0077\n" +
		"NoNewPrivileges=yes\n\n" +
		"[Install]\n" +
		"WantedBy=default.target\n")
	return b.String()
}

// unitQuote writes one word of a unit file.
func unitQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}

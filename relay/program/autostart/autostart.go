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

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/road/fault"
)

// Program is what is started.
type Program struct {
	Executable string   // absolute path of tabrelay
	Home       string   // for TABRELAY_HOME; empty: the default
	Env        []string // further NAME=value that it needs
}

// environ is the environment that the file gives the program.
func (p Program) environ() []string {
	if p.Home == "" {
		return p.Env
	}
	return append([]string{homeVariable + "=" + p.Home}, p.Env...)
}

const homeVariable = "TABRELAY_HOME"

// System is what starts programs on one kind of system.
type System struct {
	Name string // for people: "systemd", "launchd"
	File string // which says what is started; absolute path

	text     func(Program) string
	variable func(entry string) string // how a NAME=value stands in the file
	prepare  [][]string                // commands after the file was written, which start nothing
	start    [][]string                // commands that start the program
	stop     [][]string                // commands before the file is removed
	status   []string
	refuse   func(Program) error // what it cannot start; nil: nothing
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
	return System{}, fault.Hinted(fmt.Errorf("tabrelay does not know how %s starts programs at login", env.OS),
		"nothing is lost: every connected client starts the relay by itself when there is none. To start it "+
			"earlier, run “tabrelay serve --background” at login")
}

// Text is what the file says for a program.
func (s System) Text(p Program) string { return s.text(p) }

// Installed reports whether the file is there.
func (s System) Installed() bool {
	_, err := os.Stat(s.File)
	return err == nil
}

// Serves reports whether the file is there and starts the relay of a home folder. isDefault: it is the folder that
// counts when none is named.
func (s System) Serves(home string, isDefault bool) bool {
	text, err := os.ReadFile(s.File)
	if err != nil {
		return false
	}
	if strings.Contains(string(text), s.variable(homeVariable+"="+home)) {
		return true
	}
	return isDefault && !strings.Contains(string(text), homeVariable)
}

// Starts reports whether the file is that of a program, to the byte.
func (s System) Starts(p Program) bool {
	text, err := os.ReadFile(s.File)
	return err == nil && string(text) == s.text(p)
}

// Installation is a file that was written, and whose program is not started yet.
type Installation struct {
	System
	old []byte
	had bool // there was a file before
}

// Prepare writes the file and asks the system whether it takes it. When the system refuses, nothing of it stays.
func (s System) Prepare(ctx context.Context, p Program) (*Installation, error) {
	if s.refuse != nil {
		if err := s.refuse(p); err != nil {
			return nil, err
		}
	}
	i := &Installation{System: s}
	var err error
	i.old, err = os.ReadFile(s.File)
	i.had = err == nil
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of %s: %w", s.File, err)
	}
	if err := diskfile.Write(s.File, []byte(s.text(p)), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", s.File, err)
	}
	if err := run(ctx, s.prepare); err != nil {
		return nil, errors.Join(err, i.putBack())
	}
	return i, nil
}

// putBack makes the file what it was.
func (i *Installation) putBack() error {
	if i.had {
		return diskfile.Write(i.File, i.old, 0o600)
	}
	return os.Remove(i.File)
}

// Start starts the program.
func (s System) Start(ctx context.Context) error { return run(ctx, s.start) }

// Undo stops the program and makes everything what it was. A program that was installed before is started again.
func (i *Installation) Undo(ctx context.Context) error {
	if !i.had {
		_, err := i.Uninstall(ctx)
		return err
	}
	return errors.Join(i.putBack(), run(ctx, i.prepare), run(ctx, i.start))
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
		if err == nil {
			continue
		}
		next := "run the command in the session of the person the relay belongs to, not with sudo and not over a " +
			"connection that has no session"
		if errors.Is(err, exec.ErrNotFound) {
			next = "this system does not have the program; connected clients start the relay by themselves"
		}
		if said := strings.TrimSpace(string(out)); said != "" {
			err = errors.New(said)
		}
		return fault.Hinted(fmt.Errorf("%s: %w", strings.Join(c, " "), err), next)
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
		variable: launchdVariable, prepare: [][]string{{"launchctl", "print", domain}},
		start: [][]string{{"/bin/sh", "-c", "launchctl bootout " + domain + "/" + label +
			" 2>/dev/null; exec launchctl bootstrap " + domain + ` "$0"`, file}},
		stop:   [][]string{{"launchctl", "bootout", domain + "/" + label}},
		status: []string{"launchctl", "print", domain + "/" + label},
	}
}

// launchdVariable is one variable of the property list.
func launchdVariable(entry string) string {
	name, value, _ := strings.Cut(entry, "=")
	return "<key>" + xmlText(name) + "</key>\n    <string>" + xmlText(value) + "</string>"
}

func xmlText(s string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(s)) // a Builder never fails
	return escaped.String()
}

// agentText is the property list.
func agentText(p Program) string {
	var b strings.Builder
	text := func(s string) string { return "<string>" + xmlText(s) + "</string>" }
	b.WriteString(xml.Header +
		`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n" +
		`<plist version="1.0">` + "\n<dict>\n" +
		"  <key>Label</key>\n  " + text(label) + "\n" +
		"  <key>ProgramArguments</key>\n  <array>\n    " + text(p.Executable) + "\n    " + text("serve") +
		"\n  </array>\n")
	if env := p.environ(); len(env) > 0 {
		b.WriteString("  <key>EnvironmentVariables</key>\n  <dict>\n")
		for _, entry := range env {
			b.WriteString("    " + launchdVariable(entry) + "\n")
		}
		b.WriteString("  </dict>\n")
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
		variable: unitVariable,
		prepare:  [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", unit}},
		start:    [][]string{{"systemctl", "--user", "restart", unit}},
		stop: [][]string{{"systemctl", "--user", "disable", "--now", unit},
			{"systemctl", "--user", "daemon-reload"}},
		status: []string{"systemctl", "--user", "is-active", unit},
		refuse: func(p Program) error {
			if strings.ContainsAny(p.Executable, "\"'\\") {
				return fault.Hinted(errors.New("systemd starts no program whose path has quotes or backslashes: "+
					p.Executable), "move tabrelay to another folder and try again")
			}
			return nil
		},
	}
}

// unitText is the unit. The relay ends by itself with success when a person stops it, and is not started again then.
func unitText(p Program) string {
	var b strings.Builder
	b.WriteString("[Unit]\n" +
		"Description=tabrelay, a browser relay for AI agents\n" +
		"StartLimitIntervalSec=60\n" +
		"StartLimitBurst=5\n\n" +
		"[Service]\n" +
		"ExecStart=" + unitQuote(p.Executable) + " serve\n")
	for _, entry := range p.environ() {
		b.WriteString(unitVariable(entry) + "\n")
	}
	b.WriteString("Restart=on-failure\n" +
		"RestartSec=2\n" +
		"UMask=0077\n" +
		"NoNewPrivileges=yes\n\n" +
		"[Install]\n" +
		"WantedBy=default.target\n")
	return b.String()
}

// unitVariable is one variable of a unit.
func unitVariable(entry string) string { return "Environment=" + unitQuote(entry) }

// unitQuote writes one word of a unit file.
func unitQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}

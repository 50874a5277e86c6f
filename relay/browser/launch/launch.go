package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/diskfile"
)

// Launch says how the managed browser is started.
type Launch struct {
	Path      string   // of the program
	Folder    string   // where its profile, its output and its process id are kept
	Name      string   // that its extension takes as its label in a new profile; may be empty
	Extension string   // folder of the unpacked extension
	Headless  bool     //
	Root      bool     // the process runs as root: Chromium then refuses to start with its sandbox
	Args      []string // further arguments
}

// Managed is a browser that tabrelay started.
type Managed struct {
	PID     int    `json:"pid"`
	Path    string `json:"path"`
	Profile string `json:"profile,omitempty"` // the id that its extension goes by; empty until it has connected once

	folder string
}

// args is the command line. Nothing in it is secret: every user of the machine can read it. The first tab is blank: a
// page that begins to load before an extension that observes requests is there never comes in Chromium 156, which
// a data: address does. It tells the extension the name (extension/src/worker/link/profile.ts); Chromium takes
// no other about: address from its command line.
func (l Launch) args() []string {
	args := []string{
		"--user-data-dir=" + l.profile(),
		"--disable-extensions-except=" + l.Extension,
		"--load-extension=" + l.Extension,
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-sync",
		"--password-store=basic", "--use-mock-keychain",
	}
	if l.Headless {
		args = append(args, "--headless=new", "--disable-gpu")
	}
	if l.Root {
		args = append(args, "--no-sandbox")
	}
	first := "about:blank"
	if l.Name != "" {
		first = "data:,tabrelay-profile=" + l.Name
	}
	return append(append(args, l.Args...), first)
}

func (l Launch) profile() string { return filepath.Join(l.Folder, "profile") }

// Start starts the browser detached, so that it outlives this process, or returns the one that runs already.
func (l Launch) Start() (*Managed, error) {
	if m, ok := Running(l.Folder); ok {
		return m, nil
	}
	made, err := l.makeProfile()
	if err != nil {
		return nil, fmt.Errorf("cannot make the browser's profile: %w", err)
	}
	output, err := os.OpenFile(l.Output(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write the browser's output: %w", err)
	}
	defer output.Close() // the browser has its own handle
	cmd := exec.Command(l.Path, l.args()...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr, cmd.Env = output, output, detached(), environment()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", l.Path, err)
	}
	m := &Managed{PID: cmd.Process.Pid, Path: l.Path, folder: l.Folder}
	if !made {
		m.Profile = ProfileOf(l.Folder)
	}
	if err := m.write(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot note the browser's process id: %w", err), cmd.Process.Kill())
	}
	return m, cmd.Process.Release()
}

func (m *Managed) write() error {
	text, err := json.Marshal(m)
	if err == nil {
		err = diskfile.Write(record(m.folder), append(text, '\n'), 0o600)
	}
	return err
}

// preferences of a new profile. Without Developer mode Chromium loads the extension from the command line, but leaves
// it switched off when it reloads itself after an update.
const preferences = `{"extensions":{"ui":{"developer_mode":true}}}`

// makeProfile makes the profile, unless it is there. It reports whether it did.
func (l Launch) makeProfile() (made bool, err error) {
	file := filepath.Join(l.profile(), "Default", "Preferences")
	if _, err := os.Stat(file); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return false, err
	}
	return true, os.WriteFile(file, []byte(preferences), 0o600)
}

// Output is the file that the browser writes to.
func (l Launch) Output() string { return filepath.Join(l.Folder, "output.log") }

func record(folder string) string { return filepath.Join(folder, "browser.json") }

// Running returns the managed browser of a folder, if it runs.
func Running(folder string) (*Managed, bool) {
	m, ok := recorded(folder)
	if !ok || !m.alive() {
		return nil, false
	}
	return m, true
}

// recorded is the browser of a folder that was started last, and not stopped since.
func recorded(folder string) (*Managed, bool) {
	m := noted(folder)
	return m, m.PID > 0
}

// noted is what is known of the browser of a folder.
func noted(folder string) *Managed {
	m := &Managed{}
	if text, err := os.ReadFile(record(folder)); err != nil || json.Unmarshal(text, m) != nil {
		m = &Managed{}
	}
	m.folder = folder
	return m
}

// ProfileOf is the id of the profile of the managed browser of a folder; empty until it has connected once.
func ProfileOf(folder string) string { return noted(folder).Profile }

// Died is the managed browser of a folder when it was started and its process is gone without [Managed.Stop].
func Died(folder string) (m *Managed, ok bool) {
	m, ok = recorded(folder)
	return m, ok && !m.alive()
}

// Claim notes that the browser has a profile.
func (m *Managed) Claim(profile string) error {
	m.Profile = profile
	return m.write()
}

// Ended reports whether a profile is that of the managed browser of a folder, and its process is gone.
func Ended(folder, profile string) bool {
	m, ok := recorded(folder)
	return ok && m.Profile == profile && !m.alive()
}

// alive reports whether the process is there and is ours: process ids are used again.
func (m *Managed) alive() bool {
	line, err := commandLine(m.PID)
	return err == nil && strings.Contains(line, "--user-data-dir="+Launch{Folder: m.folder}.profile())
}

// commandLine is how a process was started.
func commandLine(pid int) (string, error) {
	switch runtime.GOOS {
	case "linux":
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return strings.ReplaceAll(string(text), "\x00", " "), err
	case "windows":
		query := "(Get-CimInstance Win32_Process -Filter 'ProcessId=" + strconv.Itoa(pid) + "').CommandLine"
		text, err := exec.Command("powershell", "-NoProfile", "-Command", query).Output()
		return string(text), err
	}
	text, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return string(text), err
}

// Stop asks the browser to quit, and kills it when it has not once ctx is done. The programs that it started may write
// to the profile for a moment longer (cookies, the cache): they are waited for as well.
func (m *Managed) Stop(ctx context.Context) error {
	if process, err := os.FindProcess(m.PID); err == nil && m.alive() {
		err := interrupt(process)
		if err != nil || !m.await(ctx, func() bool { return !m.alive() }) {
			err = process.Kill()
		}
		if err != nil {
			return errors.Join(err, m.forget())
		}
	}
	ended := func() bool { return !m.alive() && len(m.programs()) == 0 }
	helping, cancel := context.WithTimeout(ctx, programsTime)
	defer cancel()
	if m.await(helping, ended) {
		return m.forget()
	}
	for _, pid := range m.programs() {
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill() // it may have ended by now
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if !m.await(last, ended) {
		return errors.Join(fmt.Errorf("programs of the browser do not end: processes %s",
			strings.Trim(fmt.Sprint(m.programs()), "[]")), m.forget())
	}
	return m.forget()
}

const (
	programsTime = 5 * time.Second // for the programs of a browser that has quit
	killTime     = 2 * time.Second // for those that were killed
)

// await waits until something is so. It reports whether it is; not when ctx is done first.
func (m *Managed) await(ctx context.Context, so func() bool) bool {
	for !so() {
		if !async.Sleep(ctx, 20*time.Millisecond) {
			return so()
		}
	}
	return true
}

// forget notes that the browser was stopped.
func (m *Managed) forget() error {
	stopped := *m
	stopped.PID = 0
	if err := stopped.write(); err != nil {
		return fmt.Errorf("cannot note that the browser was stopped: %w", err)
	}
	return nil
}

// OutputEnd is the end of what the browser wrote, for a browser that ended before it connected.
func (l Launch) OutputEnd() string {
	text, err := os.ReadFile(l.Output())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = slices.DeleteFunc(lines, func(s string) bool {
		return strings.TrimSpace(s) == "" ||
			strings.Contains(s, "ERROR:dbus/")
	})
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

//go:build unix

package main

import (
	"archive/zip"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/state/config"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	commands := map[string]func(){"tabrelay": func() {
		config.PolicyFile = os.Getenv("TEST_POLICY") // this program only: the one that is built knows no such variable
		main()
	}, "chrome": chrome, "agent": runAgent, "worker": worker,
		"acpagent": acpAgent, "delegator": delegator, "packages": packages}
	if commands[filepath.Base(os.Args[0])] == nil { // it is the tests, not a command of theirs
		leaveTerminal()
		heedHangup()
	}
	testscript.Main(m, commands)
}

// leaveTerminal gives up the controlling terminal of whoever runs the tests: a session has one only where it says so.
func leaveTerminal() {
	if terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		// then a session finds one it does not expect, and fails
		_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TIOCNOTTY, 0)
		_ = terminal.Close() // nothing was written
	}
}

// heedHangup lets the programs of a session hear of a terminal that closes, also where the tests run under nohup, whose
// ignored signal they would inherit.
func heedHangup() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestResultThatCannotBeWritten(t *testing.T) {
	t.Setenv("TABRELAY_HOME", t.TempDir())
	var said strings.Builder
	if exit := run([]string{"config", "path"}, strings.NewReader(""), full{}, &said); exit != exitFailed ||
		said.String() != "error: the result could not be written: no space left on device\n" {
		t.Errorf("exit %d, said %q", exit, said.String())
	}
}

func TestHomeThatNobodyKnows(t *testing.T) {
	t.Setenv("TABRELAY_HOME", "")
	t.Setenv("HOME", "")
	var out, said strings.Builder
	if exit := run([]string{"config", "path"}, strings.NewReader(""), &out, &said); exit != exitUsage {
		t.Errorf("without HOME: exit %d, said %q", exit, said.String())
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", "somewhere")
	exit := run([]string{"config", "path"}, strings.NewReader(""), &out, &said)
	if exit != exitDone || !filepath.IsAbs(out.String()) {
		t.Errorf("with a relative HOME: exit %d, said %q", exit, out.String())
	}
}

// The sessions in testdata/script are the manual of the command line: what a person types, and what they see.
func TestScript(t *testing.T) {
	buildDir = t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"port": takePort, "await": await,
			"letter": letter, "result": result, "exits": exits, "unzipped": unzipped, "tamper": tamper,
			"release": release, "receiver": receiver, "documented": documented, "plugin-skill": pluginSkill},
		Setup: furnish,
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return os.Getuid() == 0, nil
		},
	})
}

// furnish gives a session a home of its own, free ports, and no display.
func furnish(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	for name, value := range map[string]string{
		"HOME": e.WorkDir, "XDG_CONFIG_HOME": filepath.Join(e.WorkDir, ".config"), "TABRELAY_HOME": home,
		"TABRELAY_LISTEN": "127.0.0.1:0", "TABRELAY_DEMO_LISTEN": "127.0.0.1:0", "DISPLAY": "", "WAYLAND_DISPLAY": "",
		"TEST_POLICY":          filepath.Join(e.WorkDir, "etc", "policy.json"),
		"TABRELAY_PERMISSIONS": "auto", "TABRELAY_REVIEW_REQUIRED": "false", // sessions about these unset them
	} {
		e.Setenv(name, value)
	}
	e.Defer(func() { endRelay(config.Home(home)) })
	return nil
}

// endRelay ends a relay that a session which failed left behind.
func endRelay(home config.Home) {
	state, err := join.ReadState(home)
	if err != nil || join.LockFree(home) {
		return
	}
	if process, err := os.FindProcess(state.PID); err == nil {
		_ = process.Kill() // it ended meanwhile
	}
}

// exits runs a program that has to end with the exit code of the first argument.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if code, _ := strconv.Atoi(args[0]); !errors.As(err, &exit) || exit.ExitCode() != code {
		ts.Fatalf("%s: %v, want exit code %s", strings.Join(args[1:], " "), err, args[0])
	}
}

// release installs the built program, with another version, as the file of the second argument: in one step, as
// installers do, because it may run.
func release(ts *testscript.TestScript, _ bool, args []string) {
	build, _ := releases.LoadOrStore(args[0], sync.OnceValues(func() (string, error) { return buildRelease(args[0]) }))
	built, err := build.(func() (string, error))()
	ts.Check(err)
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(errors.Join(os.Link(built, path+".new"), os.Rename(path+".new", path)))
}

// releases are the programs that were built, by version.
var releases sync.Map

// buildDir is where they are.
var buildDir string

// buildRelease compiles a version of the program. With RELEASED_PROGRAM in the environment, the present version is that
// file, as it was released; whether it says that version, the session finds out.
func buildRelease(version string) (path string, err error) {
	path = filepath.Join(buildDir, "tabrelay-"+version)
	if released := os.Getenv("RELEASED_PROGRAM"); released != "" && version == relay.Version {
		program, err := os.ReadFile(released)
		return path, errors.Join(err, os.WriteFile(path, program, 0o700))
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w -X tabrelay/relay.Version="+version, "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// unzipped prints every file of a zip, for stdout to be looked at.
func unzipped(ts *testscript.TestScript, _ bool, args []string) {
	z, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer z.Close() // only read from
	for _, entry := range z.File {
		file, err := entry.Open()
		ts.Check(err)
		_, err = io.Copy(ts.Stdout(), file)
		ts.Check(errors.Join(err, file.Close()))
	}
}

// takePort makes relays listen where the one whose relay.json is named does.
func takePort(ts *testscript.TestScript, _ bool, args []string) {
	var state join.State
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &state))
	ts.Setenv("TABRELAY_LISTEN", state.Address)
}

// awaitBrowser waits until a file is there and, when a second argument names a text, until that is in it.
func await(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	watcher, err := fsnotify.NewWatcher()
	ts.Check(err)
	defer watcher.Close() // nothing was written
	ts.Check(watcher.Add(filepath.Dir(file)))
	deadline := time.After(time.Minute) // only for what does not come at all
	for {
		if text, err := os.ReadFile(file); err == nil && (len(args) == 1 || strings.Contains(string(text), args[1])) {
			return
		}
		select {
		case <-watcher.Events:
		case <-deadline:
			ts.Fatalf("%s did not come", args[0])
		}
	}
}

// letter sets a variable to the id of the first dead letter in the output.
func letter(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], matched(ts, `(?m)^([0-9a-f]{32}) `))
}

// result sets variables to the id of the result in the output and to the offset of what is missing.
func result(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], matched(ts, `"id": "([0-9a-f]{32})"`))
	ts.Setenv(args[1], matched(ts, `"nextOffset": ([0-9]+)`))
}

func matched(ts *testscript.TestScript, pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("nothing in the output is %s", pattern)
	}
	return found[1]
}

// documented makes a script for sh of a code block of a page, which is one of the documentation or a file of the
// session: of a line of a crontab what follows the times, of a unit what it starts, in the environment that it gives,
// of anything else each line.
func documented(ts *testscript.TestScript, _ bool, args []string) {
	page, err := fs.ReadFile(repository, args[0])
	if errors.Is(err, fs.ErrNotExist) {
		page, err = os.ReadFile(ts.MkAbs(args[0]))
	}
	ts.Check(err)
	_, rest, _ := strings.Cut(string(page), "```"+args[1]+"\n")
	block, _, found := strings.Cut(rest, "\n```")
	if !found {
		ts.Fatalf("%s has no block of %s", args[0], args[1])
	}
	var script strings.Builder
	for line := range strings.Lines(block) {
		key, value, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "%h", "$HOME"), "=")
		switch {
		case args[1] == "crontab":
			script.WriteString(strings.SplitN(line, " ", 6)[5] + "\n")
		case args[1] != "ini":
			script.WriteString(line)
		case key == "Environment":
			script.WriteString("export " + value + "\n")
		case key == "ExecStart":
			script.WriteString("exec " + value + "\n")
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(script.String()), 0o600))
}

// pluginSkill is the skill that the plugin of Claude Code brings; with -update it becomes the one that is in SKILL.md.
func pluginSkill(ts *testscript.TestScript, _ bool, args []string) {
	const file = "packaging/claude-code/skills/tabrelay/SKILL.md"
	if *update {
		ts.Check(os.WriteFile(filepath.Join("../..", file), []byte(ts.ReadFile("SKILL.md")), 0o644))
	}
	text, err := fs.ReadFile(repository, file)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

// tamper changes the database of a session as somebody could who may write to the file.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("TABRELAY_HOME"), "tabrelay.db"))
	ts.Check(err)
	defer db.Close() // what it wrote is committed
	result, err := db.Exec(args[0])
	ts.Check(err)
	if n, err := result.RowsAffected(); (err != nil || n == 0) && !strings.HasPrefix(args[0], "PRAGMA ") {
		ts.Fatalf("nothing was changed: %v", err)
	}
}

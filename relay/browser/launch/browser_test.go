package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/fault"
)

// program writes an executable that does what a script says.
func program(t *testing.T, dir, name, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts are another matter there")
	}
	file := filepath.Join(dir, name)
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"),
		0o700))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFindPrefersABrowserThatLoadsExtensions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("HOME", dir)
	if _, err := Find(""); err == nil || strings.Contains(err.Error(), "does not load") || fault.HintOf(err) == "" {
		t.Errorf("nothing is there: %v", err)
	}
	chrome := program(t, dir, "google-chrome", "")
	if _, err := Find(""); err == nil || !strings.Contains(err.Error(), chrome+" does not load extensions") {
		t.Errorf("only a branded one is there: %v", err)
	}
	program(t, dir, ".cache/ms-playwright/chromium-1000/chrome-linux/chrome", "")
	newest := program(t, dir, ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome", "")
	if runtime.GOOS == "linux" {
		if got, err := Find(""); got != newest || err != nil {
			t.Errorf("of a test tool: %s, %v", got, err)
		}
		chromium := program(t, dir, "chromium", "")
		if got, err := Find(""); got != chromium || err != nil {
			t.Errorf("in PATH: %s, %v", got, err)
		}
	}
	if got, err := Find(chrome); got != chrome || err != nil {
		t.Errorf("configured: %s, %v", got, err)
	}
	if _, err := Find(filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "browser.path is") {
		t.Errorf("configured, but not there: %v", err)
	}
}

func TestASnapIsRecognized(t *testing.T) {
	dir := t.TempDir()
	if wrapper := program(t, dir, "chromium-browser", "exec /snap/bin/chromium \"$@\""); !Sandboxed(wrapper) {
		t.Error("a wrapper of a snap was not recognized")
	}
	if plain := program(t, dir, "chromium", "exec /usr/lib/chromium \"$@\""); Sandboxed(plain) {
		t.Error("a plain program was taken for a snap")
	}
	if !Sandboxed("/snap/bin/chromium") {
		t.Error("a snap was not recognized")
	}
}

func TestArgumentsLoadTheExtension(t *testing.T) {
	l := Launch{Folder: "/h/browser", Extension: "/h/extension", Headless: true, Root: true,
		Args: []string{"--lang=en"}}
	args := l.args()
	for _, want := range []string{"--user-data-dir=/h/browser/profile", "--load-extension=/h/extension",
		"--disable-extensions-except=/h/extension", "--headless=new", "--no-sandbox", "--lang=en"} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %v", want, args)
		}
	}
	if args[len(args)-1] != "about:blank" {
		t.Errorf("the first tab is not blank: %v", args)
	}
	l.Name = "shopping"
	if args := l.args(); args[len(args)-1] != "data:,tabrelay-profile=shopping" {
		t.Errorf("the first tab does not have the name: %v", args)
	}
	l.Headless, l.Root = false, false
	for _, not := range []string{"--headless=new", "--no-sandbox"} {
		if slices.Contains(l.args(), not) {
			t.Errorf("%s has no place in %v", not, l.args())
		}
	}
}

// One browser is started for a folder, found again by another process, and stopped; a process that only has its
// number is left alone.
func TestOneBrowserIsStartedForAFolder(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "browser")
	l := Launch{Path: program(t, dir, "chromium", `trap 'exit 0' TERM; echo "[1:ERROR:dbus/bus.cc] no bus" >&2; echo `+
		`started >&2; while :; do read -r _ < "`+dir+`/pipe"; done`), Folder: folder}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err != nil {
		t.Skip("no mkfifo:", err)
	}
	m, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Start()
	if err != nil || again.PID != m.PID {
		t.Errorf("a second start: %+v, %v", again, err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "profile", "Default", "Preferences")); err != nil ||
		!strings.Contains(string(text), "developer_mode") {
		t.Errorf("the profile has %s, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		t.Error(err)
	}
	if _, ok := Running(folder); ok {
		t.Error("it is still there")
	}
	if err := os.WriteFile(record(folder), []byte(`{"pid":1,"path":"/sbin/init"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := Running(folder); ok {
		t.Error("another process was taken for the browser")
	}
}

// A key in the environment of the relay is not in that of the browser, where every process of it could read it.
func TestEnvironmentOfTheBrowser(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	for name, value := range map[string]string{"OPENAI_API_KEY": "sk-1", "TABRELAY_TOKEN": "t", "GOOGLE_API_KEY": "g",
		"MY_OWN": "x", "DISPLAY": ":7", "https_proxy": "http://proxy:1", "LC_ALL": "C"} {
		t.Setenv(name, value)
	}
	l := Launch{Path: program(t, dir, "chromium", `env > "`+seen+`.new"; mv "`+seen+`.new" "`+seen+`"`),
		Folder: filepath.Join(dir, "browser")}
	if _, err := l.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for range 5000 {
		var err error
		if text, err = os.ReadFile(seen); err == nil {
			break
		}
		<-time.After(time.Millisecond)
	}
	lines := strings.Split(string(text), "\n")
	for line, want := range map[string]bool{"OPENAI_API_KEY=sk-1": false, "TABRELAY_TOKEN=t": false, "MY_OWN=x": false,
		"GOOGLE_API_KEY=g": false, "DISPLAY=:7": true, "https_proxy=http://proxy:1": true, "LC_ALL=C": true} {
		if got := slices.Contains(lines, line); got != want {
			t.Errorf("%s is there: %v", line, got)
		}
	}
}

func TestTheGuideNamesFolderAndKeysOfEachSystem(t *testing.T) {
	for goos, keys := range map[string]string{"linux": "Ctrl+L, paste this path, then press “Open”",
		"darwin": "Cmd+Shift+G", "windows": "address line"} {
		var text strings.Builder
		for _, step := range Guide("/home/ann/.tabrelay/extension", goos) {
			text.WriteString(step.Title + "\n" + step.Text + "\n")
		}
		for _, want := range []string{"chrome://extensions", "Developer mode", "Leave it on", "Load unpacked", keys,
			"/home/ann/.tabrelay/extension", "Pin"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: the guide does not say %q", goos, want)
			}
		}
		if hidden := strings.Contains(text.String(), "hidden"); hidden != (goos != "windows") {
			t.Errorf("%s: speaks of hidden folders: %v", goos, hidden)
		}
	}
}

func TestTheWayInOneSentenceHasEachStep(t *testing.T) {
	said := LoadUnpacked("~/.tabrelay/extension")
	for _, want := range []string{"chrome://extensions", "Developer mode on", "“Load unpacked”",
		"the folder ~/.tabrelay/extension (in the dialog, "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if strings.Contains(said, "\n") {
		t.Errorf("it has several lines: %s", said)
	}
}

// The relay learns which profile the managed browser has, and when its process is gone.
func TestABrowserHasEndedWithItsProcess(t *testing.T) {
	folder := t.TempDir()
	if Ended(folder, "a") {
		t.Error("a browser that was never started has ended")
	}
	process := exec.Command(os.Args[0], "-test.run=TestProcessThatWaitsForItsInput$", "--",
		"--user-data-dir="+filepath.Join(folder, "profile"))
	process.Env = append(os.Environ(), "BROWSER_TEST_WAITS=1")
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if err := (&Managed{PID: process.Process.Pid, folder: folder}).write(); err != nil {
		t.Fatal(err)
	}
	if m, runs := Running(folder); !runs || m.Profile != "" {
		t.Fatalf("it runs: %v, %+v", runs, m)
	} else if err := m.Claim("a"); err != nil {
		t.Fatal(err)
	}
	if m, runs := Running(folder); !runs || m.Profile != "a" || Ended(folder, "a") || Ended(folder, "b") {
		t.Errorf("it runs: %v, %+v", runs, m)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed
	_ = in.Close()     // as above
	if !Ended(folder, "a") || Ended(folder, "b") || Ended(folder, "") {
		t.Error("its end is not known, or that of others is")
	}
	m, died := Died(folder)
	if !died {
		t.Fatal("it is not known to have died")
	}
	if err := m.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, died := Died(folder); died || Ended(folder, "a") || ProfileOf(folder) != "a" {
		t.Errorf("after it was stopped it died: %v, or its profile %q is not known", died, ProfileOf(folder))
	}
}

// TestProcessThatWaitsForItsInput is the process of TestABrowserHasEndedWithItsProcess.
func TestProcessThatWaitsForItsInput(t *testing.T) {
	if os.Getenv("BROWSER_TEST_WAITS") == "" {
		t.Skip("it is started by another test")
	}
	_, _ = io.ReadAll(os.Stdin) // until it is killed
}

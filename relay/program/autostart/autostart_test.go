package autostart

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/fault"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var awkward = Program{Executable: `/opt/My Apps/100% & <tab>relay/$HOME/tabrelay`, Home: `/home/ann/tab relay\<x>`,
	Env: []string{"TABRELAY_LISTEN=127.0.0.1:7800", `TABRELAY_ALLOWED_ORIGINS=["a", "50%"]`}}

func environment(t *testing.T, system string) Environment {
	t.Helper()
	return Environment{OS: system, Home: t.TempDir(), Getenv: func(string) string { return "" }, UID: 501}
}

func TestFilesOfTheServiceQuoteAwkwardPaths(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		for name, p := range map[string]Program{"plain": {Executable: "/usr/local/bin/tabrelay"}, "awkward": awkward} {
			s, err := For(environment(t, system))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", s.Name+"_"+name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(s.Text(p)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), s.Text(p)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", golden, diff)
			}
		}
	}
	if _, err := For(environment(t, "windows")); fault.HintOf(err) == "" {
		t.Errorf("windows: %v", err)
	}
}

// The agent's file is XML, and says the awkward words as they are.
func TestPropertyListReadsBack(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(agentText(awkward)))
	var words []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			words = append(words, string(text))
		}
	}
	want := []string{"Label", label, "ProgramArguments", awkward.Executable, "serve", "EnvironmentVariables",
		"TABRELAY_HOME", awkward.Home, "TABRELAY_LISTEN", "127.0.0.1:7800", "TABRELAY_ALLOWED_ORIGINS",
		`["a", "50%"]`, "RunAtLoad", "KeepAlive", "SuccessfulExit", "Umask", "63"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

// systemd itself reads the unit, where there is one.
func TestUnitIsValid(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, `a b 100% $HOME`, "tabrelay")
	if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o700), os.WriteFile(program, []byte("#!/bin/sh\n"),
		0o700)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, unit)
	if err := os.WriteFile(file, []byte(unitText(Program{Executable: program, Home: awkward.Home, Env: awkward.Env})),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "--user", "verify", file)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "Failed to initialize manager") {
		t.Skipf("systemd-analyze does not work here: %s", out)
	}
	if err != nil || strings.Contains(string(out), unit+":") {
		t.Errorf("%v: %s", err, out)
	}
}

// commands puts programs of that name in the way that note how they are called, and fail when told to.
func commands(t *testing.T, name string, fail bool) (called func() string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(dir, "called") + "\n"
	if fail {
		script += "echo 'Failed to connect to bus' >&2\nexit 1\n"
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "called")) // not called: there is no file
		return string(text)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	called := commands(t, "systemctl", false)
	s, err := For(environment(t, "linux"))
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := s.Uninstall(t.Context()); removed || err != nil {
		t.Errorf("nothing to remove: %v, %v", removed, err)
	}
	prepared, err := s.Prepare(t.Context(), awkward)
	if err != nil || !s.Installed() || !s.Starts(awkward) || !s.Serves(awkward.Home, false) ||
		s.Serves(awkward.Home+"2", true) {
		t.Fatal(err)
	}
	if err := prepared.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if removed, err := s.Uninstall(t.Context()); !removed || err != nil || s.Installed() {
		t.Errorf("%v, %v", removed, err)
	}
	want := "--user daemon-reload\n--user enable tabrelay.service\n--user restart tabrelay.service\n--user disable " +
		"--now tabrelay.service\n--user daemon-reload\n"
	if diff := cmp.Diff(want, called()); diff != "" {
		t.Error(diff)
	}
}

// What was started and does not run is undone: the file is gone, or that of before, whose program is started again.
func TestUndoRestoresTheFormerService(t *testing.T) {
	called := commands(t, "systemctl", false)
	s, err := For(environment(t, "linux"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Prepare(t.Context(), Program{Executable: "/opt/tabrelay"})
	if err != nil || first.Undo(t.Context()) != nil || s.Installed() {
		t.Errorf("%v, installed %t", err, s.Installed())
	}
	if !strings.Contains(called(), "disable --now") {
		t.Errorf("called %s", called())
	}
	plain := Program{Executable: "/usr/local/bin/tabrelay"}
	if _, err := s.Prepare(t.Context(), plain); err != nil || !s.Serves("/home/ann/.tabrelay", true) {
		t.Fatal(err)
	}
	second, err := s.Prepare(t.Context(), awkward)
	if err != nil || second.Undo(t.Context()) != nil || !s.Starts(plain) {
		t.Errorf("%v, the file of before is not back", err)
	}
}

func TestRefusalLeavesNothing(t *testing.T) {
	commands(t, "systemctl", true)
	s, err := For(environment(t, "linux"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(t.Context(), Program{Executable: `/opt/"quoted"/tabrelay`}); fault.HintOf(err) == "" ||
		s.Installed() {
		t.Errorf("a path with quotes: %v", err)
	}
	_, err = s.Prepare(t.Context(), awkward)
	if err == nil || !strings.Contains(err.Error(),
		"systemctl --user daemon-reload: Failed to connect to bus") || fault.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if s.Installed() {
		t.Error("the file stayed")
	}
	if err := os.WriteFile(s.File, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(t.Context(), awkward); err == nil {
		t.Error("no error")
	}
	if text, err := os.ReadFile(s.File); string(text) != "old" {
		t.Errorf("the file of before became %q, %v", text, err)
	}
}

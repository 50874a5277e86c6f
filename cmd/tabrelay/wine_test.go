//go:build wine

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forwarder is what versions of Wine before 9 lack for programs of Go: the generator of random numbers.
const forwarder = "LIBRARY bcryptprimitives\nEXPORTS\n  ProcessPrng = advapi32.SystemFunction036\n"

// windows is a Windows of its own, in Wine, with the program in a folder whose name has blanks and other letters.
type windows struct {
	t       *testing.T
	prefix  string
	program string // as Windows names it
	home    string
}

func newWindows(t *testing.T) *windows {
	t.Helper()
	for _, tool := range []string{"wine", "wineserver", "x86_64-w64-mingw32-ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not installed; on Debian: apt-get install wine wine64 binutils-mingw-w64-x86-64", tool)
		}
	}
	w := &windows{t: t, prefix: t.TempDir(), program: `C:\Program Files\Tab Rélay\tabrelay.exe`,
		home: `C:\Jörg 日本\` + strings.Repeat(`a long name of a folder\`, 8) + `tab relay`}
	t.Cleanup(func() {
		stop := exec.Command("wineserver", "-k")
		stop.Env = w.environ()
		_ = stop.Run() // fails when it has ended
		wait := exec.Command("wineserver", "-w")
		wait.Env = w.environ()
		_ = wait.Run()
	})
	w.must(w.wine("wineboot", "-i"))
	system := filepath.Join(w.prefix, "drive_c", "windows", "system32")
	if _, err := os.Stat(filepath.Join(system, "bcryptprimitives.dll")); err != nil {
		definition := filepath.Join(t.TempDir(), "forwarder.def")
		if err := os.WriteFile(definition, []byte(forwarder), 0o600); err != nil {
			t.Fatal(err)
		}
		link := exec.Command("x86_64-w64-mingw32-ld", "-shared", definition, "-o",
			filepath.Join(system, "bcryptprimitives.dll"))
		if out, err := link.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return w
}

func (w *windows) environ() []string {
	return append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEDEBUG=-all", "DISPLAY=", "LC_ALL=C.UTF-8",
		"TABRELAY_HOME="+w.home, "TABRELAY_LISTEN=127.0.0.1:0", "TABRELAY_DEMO_LISTEN=127.0.0.1:0")
}

// path is a file of this Windows as Linux names it.
func (w *windows) path(name string) string {
	return filepath.Join(w.prefix, "drive_c", strings.ReplaceAll(strings.TrimPrefix(name, `C:\`), `\`, "/"))
}

// install compiles a version of the program into a file.
func (w *windows) install(version, name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w -X tabrelay/relay.Version="+version, "-o", w.path(name),
		".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// wine runs a program. What it prints goes to a file: under Wine a relay in the background keeps a pipe open.
func (w *windows) wine(args ...string) (said string, err error) {
	w.t.Helper()
	out, err := os.CreateTemp(w.t.TempDir(), "out")
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close() // it is read by its name
	run := exec.Command("wine", args...)
	run.Env, run.Stdout, run.Stderr = w.environ(), out, out
	err = run.Run()
	text, _ := os.ReadFile(out.Name())
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

func (w *windows) must(said string, err error) string {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v: %s", err, said)
	}
	return said
}

// says runs the program, which has to succeed and to say this.
func (w *windows) says(words string, args ...string) string {
	w.t.Helper()
	said := w.must(w.wine(append([]string{w.program}, args...)...))
	if !strings.Contains(said, words) {
		w.t.Errorf("%q says %q, without %q", args, said, words)
	}
	return said
}

// refuses runs the program, which has to fail and to say this.
func (w *windows) refuses(words string, args ...string) {
	w.t.Helper()
	said, err := w.wine(append([]string{w.program}, args...)...)
	if err == nil || !strings.Contains(said, words) {
		w.t.Errorf("%q: %v, says %q, want %q", args, err, said, words)
	}
}

// state is relay.json.
func (w *windows) state() (s struct {
	Address, Version string
	PID              int
}) {
	w.t.Helper()
	text, err := os.ReadFile(w.path(w.home + `\relay.json`))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// The program for Windows, from the first start to an upgrade while it runs.
func TestWindowsProgramUnderWine(t *testing.T) {
	w := newWindows(t)
	w.install("0.1.0", w.program)
	w.says("tabrelay 0.1.0", "--version")
	w.says("Start everything", "help")

	w.says("The relay runs: http://127.0.0.1:", "up", "--browser", "none")
	w.says("no browser is connected", "status")
	w.refuses("a relay is already running for this home folder", "serve")
	w.configuration()
	token := w.clients()
	w.refuses("tabrelay does not know how windows starts programs at login", "service", "install", "--print")

	first := w.state()
	w.overHTTP(first.Address, token)
	proxy := w.proxy(token)
	proxy.talk()

	// It dies, and what it knew is there for the next one, to which the proxy attaches by itself.
	w.must(w.wine("taskkill", "/F", "/PID", fmt.Sprint(first.PID)))
	w.says("The relay runs", "up", "--browser", "none")
	if second := w.state(); second.PID == first.PID {
		t.Errorf("it was not started again: %+v", second)
	}
	proxy.call(10)
	w.overHTTP(w.state().Address, token)

	// A running program cannot be overwritten on Windows, but moved: that is how installers replace it.
	next := `C:\Program Files\Tab Rélay\next.exe`
	w.install("0.2.0", next)
	w.must(w.wine("cmd", "/c", "move", w.program, w.program+".old"))
	w.must(w.wine("cmd", "/c", "move", next, w.program))
	w.says("The relay runs", "up", "--browser", "none")
	if state := w.state(); state.Version != "0.2.0" {
		t.Errorf("after the upgrade, %+v runs", state)
	}
	proxy.call(11)
	proxy.end()
	w.says("The relay is stopped", "down")
	w.refuses("The relay is not running", "status")
}

// What only tests within the program can see: access lists and the registry.
func TestWindowsPackagesUnderWine(t *testing.T) {
	w := newWindows(t)
	for folder, tests := range map[string][]string{
		"relay/lib/diskfile":       {"TestPrivateFilesAreClosedFromTheBeginning", "TestWriteReplacesInOneStep"},
		"relay/program/nativehost": {"TestRegistryNamesTheManifest", "TestAllowedNamesOneExtension"},
	} {
		name := `C:\` + filepath.Base(folder) + ".test.exe"
		build := exec.Command("go", "test", "-c", "-vet=off", "-o", w.path(name), "./"+folder)
		build.Dir = "../.."
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		said, _ := w.wine(name, "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$")
		for _, test := range tests {
			if !strings.Contains(said, "=== RUN   "+test+"\n") {
				t.Errorf("%s did not run: %s", test, said)
			}
		}
		// The exit code does not count: Wine 8 cannot remove a folder the way Go does, so that every test with a folder
		// of its own fails after its end, in testing.go.
		if strings.Contains(said, "_test.go:") || strings.Contains(said, "panic: ") {
			t.Errorf("%s: %s", folder, said)
		}
	}
}

// configuration reads and changes config.json, also one with the ends of lines of Windows, and leaves a broken one.
func (w *windows) configuration() {
	w.t.Helper()
	file := w.path(w.home + `\config.json`)
	w.says(w.home+`\config.json`, "config", "path")
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	good := strings.ReplaceAll(string(text), "\n", "\r\n")
	broken := strings.Replace(good, "{", `{"timeoutMs": `, 1)
	for _, one := range []struct{ text, words string }{{broken, "config.json:"}, {`{"maxBytes": "soon"}`, "maxBytes"}} {
		if err := os.WriteFile(file, []byte(one.text), 0o600); err != nil {
			w.t.Fatal(err)
		}
		w.refuses(one.words, "config", "set", "timeoutMs", "20000")
		if left, err := os.ReadFile(file); err != nil || string(left) != one.text {
			w.t.Errorf("a broken file became %q, %v", left, err)
		}
	}
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.says("timeoutMs is 20000", "config", "set", "timeoutMs", "20000")
	if left, err := os.ReadFile(file); err != nil || !strings.Contains(string(left), `"timeoutMs": 20000`) {
		w.t.Errorf("it wrote %q, %v", left, err)
	}
}

// clients connects programs, each in its file, and returns a token of theirs.
func (w *windows) clients() (token string) {
	w.t.Helper()
	users, err := filepath.Glob(filepath.Join(w.prefix, "drive_c", "users", "*", "AppData"))
	if err != nil || len(users) != 1 {
		w.t.Fatal(users, err)
	}
	user := filepath.Dir(users[0])
	for client, file := range map[string]string{"claude-desktop": `AppData/Roaming/Claude/claude_desktop_config.json`,
		"cursor": `.cursor/mcp.json`, "vscode": `AppData/Roaming/Code/User/mcp.json`, "codex": `.codex/config.toml`,
		"zed": `AppData/Roaming/Zed/settings.json`, "claude-code": `.claude.json`} {
		w.says(strings.ReplaceAll(file, "/", `\`), "connect", client)
		text, err := os.ReadFile(filepath.Join(user, file))
		_, after, found := strings.Cut(string(text), "TABRELAY_TOKEN")
		if err != nil || !found || !strings.Contains(string(text), "tabrelay.exe") {
			w.t.Fatalf("%s: %q, %v", file, text, err)
		}
		token = strings.FieldsFunc(after, func(r rune) bool { return strings.ContainsRune("\"' :=\r\n,{}", r) })[0]
	}
	return token
}

// overHTTP makes a call with a token, which is refused without it.
func (w *windows) overHTTP(address, token string) {
	w.t.Helper()
	for _, one := range []struct {
		token string
		want  int
	}{{token, http.StatusOK}, {"", http.StatusUnauthorized}, {"tabrelay_wrong", http.StatusUnauthorized}} {
		request, err := http.NewRequest(http.MethodPost, "http://"+address+"/mcp", strings.NewReader(initialize))
		if err != nil {
			w.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if one.token != "" {
			request.Header.Set("Authorization", "Bearer "+one.token)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != one.want ||
			one.want == http.StatusOK && !strings.Contains(string(text), `"tabrelay"`) {
			w.t.Errorf("with the token %.12q: %d %s, %v", one.token, answer.StatusCode, text, err)
		}
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"wine","version":"1"}}}`

// proxy is a conversation with tabrelay mcp.
type proxy struct {
	*windows
	run *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (w *windows) proxy(token string) *proxy {
	w.t.Helper()
	run := exec.Command("wine", w.program, "mcp")
	run.Env = append(w.environ(), "TABRELAY_TOKEN="+token)
	in, err := run.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		w.t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { _ = run.Process.Kill() }) // only for an answer that never comes
	w.t.Cleanup(func() { late.Stop() })
	return &proxy{w, run, in, bufio.NewReader(out)}
}

// ask sends a request and returns the answer to it.
func (p *proxy) ask(id int, request string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.in, request+"\n"); err != nil {
		p.t.Fatal(err)
	}
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("no answer to %s: %v", request, err)
		}
		var answer struct{ ID json.Number }
		if json.Unmarshal([]byte(line), &answer) == nil && answer.ID.String() == fmt.Sprint(id) {
			return line
		}
	}
}

func (p *proxy) talk() {
	p.t.Helper()
	if got := p.ask(1, initialize); !strings.Contains(got, `"serverInfo"`) {
		p.t.Errorf("initialize: %s", got)
	}
	if _, err := io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		p.t.Fatal(err)
	}
	if got := p.ask(2, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, `"bridge_health"`) {
		p.t.Errorf("tools/list: %.300s", got)
	}
	p.call(3)
}

// call runs a tool of the relay's own.
func (p *proxy) call(id int) {
	p.t.Helper()
	got := p.ask(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bridge_health",`+
		`"arguments":{}}}`, id))
	if !strings.Contains(got, `"content"`) || strings.Contains(got, `"isError":true`) {
		p.t.Errorf("the call was answered %.300s", got)
	}
}

// end closes the proxy's input, after which it ends by itself.
func (p *proxy) end() {
	p.t.Helper()
	if err := p.in.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.run.Wait(); err != nil {
		p.t.Errorf("the proxy ended with %v", err)
	}
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// read loads a config.json with the given text under the given environment.
func read(t *testing.T, text string, environ ...string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(file, environ)
	if err != nil {
		err = errorText(strings.ReplaceAll(err.Error(), filepath.Dir(file)+string(filepath.Separator), ""))
	}
	return c, err
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	c, err := load(filepath.Join(t.TempDir(), "config.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	if c.Listen != "127.0.0.1:7717" || c.Demo.Listen != "127.0.0.1:7718" || c.Timeout != 30*time.Second ||
		c.MaxTimeout != 300*time.Second ||
		!c.ProgressExtendsTimeout || c.MaxBytes != 32<<10 || c.ResultBytes != 10<<20 || c.FrameBytes != 16<<20 ||
		c.PingEvery != 20*time.Second ||
		c.Errors.Transient.Retry != (Retry{3, time.Second, 30 * time.Second, 2}) || !c.Plugin("any").Enabled {
		t.Errorf("a default is not the documented one: %+v", c)
	}
}

func TestFileAsEditorsLeaveIt(t *testing.T) {
	for _, text := range []string{"\ufeff{\"timeoutMs\": 1500}\r\n", `{"timeoutMs": 1500} // mine`,
		"// mine\n{\"timeoutMs\": 1500,}\n// end"} {
		if c, err := read(t, text); err != nil || c.Timeout != 1500*time.Millisecond {
			t.Errorf("%q: %v, %v", text, c.Timeout, err)
		}
	}
}

// A start writes nothing that is there already: on a full disk it could not.
func TestSchemaIsWrittenOnce(t *testing.T) {
	home := Home(t.TempDir())
	stat := func() os.FileInfo {
		t.Helper()
		if err := home.Create(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(home.Schema())
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := stat()
	if !os.SameFile(first, stat()) {
		t.Error("the schema was written again")
	}
	if err := os.WriteFile(home.Schema(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stat().Size() != first.Size() {
		t.Error("the schema of an earlier version stays")
	}
}

func TestFileAndEnvironment(t *testing.T) {
	c, err := read(t, `// mine
{
  "$schema": "./config.schema.json",
  "listen": "127.0.0.1:0", /* any */
  "errors": {"transient": {"retry": {"maxAttempts": 2}, "patterns": []}},
  "browser": {"args": ["--no-sandbox",]},
  "plugins": {
    "mediawiki": {"urlPatterns": ["http://localhost:8080/*"], "settings": {"site": {"a": "http://a/"}}},
    "demo": {"enabled": false},
  },
}`, "TABRELAY_TIMEOUT_MS=1500", "TABRELAY_EXTENSION_IDS=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
		"TABRELAY_ERRORS_TRANSIENT_RETRY_MAX_ATTEMPTS=4", "TABRELAY_DEMO_LISTEN=",
		`TABRELAY_PLUGINS={"demo":{"enabled":true}}`,
		"TABRELAY_HOME=/x", "TABRELAY_LISTN=oops", "HOME=/root")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen = "127.0.0.1:0"
	want.Demo.Listen = ""
	want.Timeout = 1500 * time.Millisecond
	want.ExtensionIDs = []string{strings.Repeat("a", 32), strings.Repeat("b", 32)}
	want.Errors.Transient.Retry.MaxAttempts = 4
	want.Errors.Transient.Patterns = []string{}
	want.Browser.Args = []string{"--no-sandbox"}
	want.Plugins = map[string]Plugin{
		"mediawiki": {Enabled: true, URLPatterns: []string{"http://localhost:8080/*"},
			Settings: []byte(`{"site":{"a":"http://a/"}}`)},
		"demo": {Enabled: true, URLPatterns: []string{}, Settings: []byte(`{}`)},
	}
	want.Warnings = []string{"environment variable TABRELAY_LISTN is not a setting; did you mean TABRELAY_LISTEN?"}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesNameTheirLineAndTheNextStep(t *testing.T) {
	for _, tt := range []struct{ name, text, env, want string }{
		{"unknown", "{\n\"listn\": 1}", "", `config.json:2: listn: no such setting; did you mean listen?`},
		{"renamed", `{"gapWaitMs": 1}`, "", `config.json:1: gapWaitMs: is called reconnectWaitMs now`},
		{"renamed in the environment", "{}", "TABRELAY_GAP_WAIT_MS=1", "environment variable TABRELAY_GAP_WAIT_MS: " +
			"reconnectWaitMs: its variable is called TABRELAY_RECONNECT_WAIT_MS now"},
		{"unknown in a group", "{\"errors\": {\n\"transient\": {\"pattern\": []}}}", "",
			`config.json:2: errors.transient.pattern: no such setting; did you mean errors.transient.patterns?`},
		{"unknown and unlike anything", `{"zzzzzzzz": 1}`, "", `config.json:1: zzzzzzzz: no such setting`},
		{"unknown of a plugin", `{"plugins": {"a.b": {"enable": true}}}`, "",
			`config.json:1: plugins.a.b.enable: no such setting; did you mean enabled?`},
		{"type", `{"timeoutMs": "fast"}`, "", `config.json:1: timeoutMs: expected a whole number from 100 to 600000 ` +
			`ms, but got "fast"`},
		{"null", `{"timeoutMs": null}`, "", `config.json:1: timeoutMs: expected a whole number from 100 to 600000 ms,` +
			` but got null`},
		{"fraction", `{"maxBytes": 1.5e3, "timeoutMs": 1000.5}`, "",
			`config.json:1: maxBytes: expected a whole number from 1024 to 10485760 bytes, but got 1.5e3` + "\n" +
				`config.json:1: timeoutMs: expected a whole number from 100 to 600000 ms, but got 1000.5`},
		{"bounds", `{"maxTimeoutMs": 600001}`, "", `config.json:1: maxTimeoutMs: expected a whole number from 100 to ` +
			`600000 ms, but got 600001`},
		{"number bounds", `{"errors":{"transient":{"retry":{"backoffMultiplier":0.5}}}}`, "",
			`config.json:1: errors.transient.retry.backoffMultiplier: expected a number from 1 to 10, but got 0.5`},
		{"choice", `{"logging": {"level": "trace"}}`, "",
			`config.json:1: logging.level: expected one of "debug", "info", "warn", "error", but got "trace"`},
		{"open to the network", `{"listen": "0.0.0.0:7717"}`, "",
			`config.json:1: listen: expected a loopback address with a port, for example 127.0.0.1:7717 ` +
				`(other machines: see remote.listen), but got "0.0.0.0:7717"`},
		{"pattern", `{"errors":{"fatal":{"patterns":["(?=x)"]}}}`, "",
			`config.json:1: errors.fatal.patterns: expected a list, each item a regular expression (RE2) of at most ` +
				`256 characters, but got ["(?=x)"]`},
		{"group", `{"browser": true}`, "", `config.json:1: browser: expected an object, but got true`},
		{"plugin", `{"plugins": {"demo": 1}}`, "", `config.json:1: plugins.demo: expected an object, but got 1`},
		{"twice", "{\"listen\": \"[::1]:1\",\n\"listen\": \"localhost:2\"}", "",
			`config.json:2: listen: is set twice; keep one`},
		{"not an object", `[]`, "", `config.json:1: expected an object: { … }`},
		{"syntax", "{\n\"listen\" 1}", "", "config.json: not JSON: line 2, column 10: invalid character '1' after " +
			"object name"},
		{"environment", `{}`, "TABRELAY_TIMEOUT_MS=fast",
			`environment variable TABRELAY_TIMEOUT_MS: timeoutMs: expected a whole number from 100 to 600000 ms, but ` +
				`got "fast"`},
		{"environment plugins", `{}`, `TABRELAY_PLUGINS={"demo":{"enabled":1}}`,
			`environment variable TABRELAY_PLUGINS: plugins.demo.enabled: expected true or false, but got 1`},
		{"relation", "{\n\n\"timeoutMs\": 60000, \"maxTimeoutMs\": 50000}", "",
			`config.json:3: timeoutMs: is 60000, but maxTimeoutMs allows no more than 50000`},
		{"relation with a default", `{"frameBytes": 1048576}`, "",
			`config.json:1: frameBytes: is 1048576; a result of resultBytes (10485760) needs at least 10551296`},
		{"own address", `{"demo": {"listen": "127.0.0.1:7717"}}`, "",
			`config.json:1: demo.listen: is the relay's own address; the demo site needs one of its own`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, tt.text, tt.env)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %v", err, tt.want)
			}
		})
	}
}

func TestSetKeepsComments(t *testing.T) {
	home := Home(t.TempDir())
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	text := "{\n  // why\n  \"timeoutMs\": 1000, // short\n}\n"
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(home, []string{"plugins", "a/b.c", "settings", "site"}, []byte(`{"main":"https://x/"}`)); err != nil {
		t.Fatal(err)
	}
	if err := Set(home, []string{"timeoutMs"}, []byte(`2000`)); err != nil {
		t.Fatal(err)
	}
	err := Set(home, []string{"timeoutMs"}, []byte(`"x"`))
	if err == nil || !strings.Contains(err.Error(), "expected a whole number") {
		t.Errorf("a wrong value was written: %v", err)
	}
	got, _ := os.ReadFile(home.Config())
	want := `{
	// why
	"timeoutMs": 2000, // short
	"plugins":   {"a/b.c": {"settings": {"site": {"main": "https://x/"}}}},
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if err := Unset(home, []string{"plugins", "a/b.c"}); err != nil {
		t.Fatal(err)
	}
	c, err := load(home.Config(), nil)
	if err != nil || len(c.Plugins) != 0 || c.Timeout != 2*time.Second {
		t.Errorf("%v %+v", err, c)
	}
}

func TestHomeFolderIsPrivate(t *testing.T) {
	t.Setenv("TABRELAY_HOME", filepath.Join(t.TempDir(), "h"))
	home, err := ResolveHome()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := home.Create(); err != nil {
			t.Fatal(err)
		}
	}
	if info, _ := os.Stat(string(home)); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := Load(home); err != nil {
		t.Errorf("the first config.json does not load: %v", err)
	}
	if err := os.Chmod(string(home), 0o777); err != nil {
		t.Fatal(err)
	}
	var wrong *FileError
	if err := home.Create(); !errors.As(err, &wrong) || !strings.Contains(wrong.Next, "chmod 700") {
		t.Errorf("a folder others can write to was accepted: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Home(file).Create(); !errors.As(err, &wrong) || !strings.Contains(wrong.Next, "TABRELAY_HOME") {
		t.Errorf("a file as home: %v", err)
	}
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"plugins":{"a":{"settings":{}}}}`,
		`{"errors":{"transient":{"retry":{"maxAttempts":1e2}}}} // x`,
		`{"a":1,"a":2,"listen":null,}`, "{\"\\ud800\":[[[]]]}", `{"browser":{"args":["\u0000"]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		r := newReader("config.json", data)
		r.document(&c)
		r.relations(&c)
		for _, fault := range r.faults {
			if fault.Message == "" || fault.Line > 1+strings.Count(string(data), "\n") {
				t.Errorf("fault without message or outside the file: %+v", fault)
			}
		}
		if len(r.faults) == 0 && (c.Timeout > c.MaxTimeout || c.Timeout <= 0) {
			t.Errorf("accepted: %+v", c)
		}
	})
}

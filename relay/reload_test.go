package relay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// runOwn runs one of the relay's own tools, past the rules.
func runOwn(t *testing.T, r *Relay, name string) json.RawMessage {
	t.Helper()
	tool, ok := r.tools.Snapshot().Find(name)
	if !ok {
		t.Fatal("there is no tool " + name)
	}
	result, failure := tool.Run(t.Context(), call.Call{}, nil)
	if failure != nil {
		t.Fatal(failure)
	}
	return result.Output
}

// health is what bridge_health answers of plugins and of the configuration.
func health(t *testing.T, r *Relay) (h struct {
	Refused  *catalog.Refusal
	Problems []registry.Problem
}) {
	t.Helper()
	if err := json.Unmarshal(runOwn(t, r, "bridge_health"), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// A configuration that cannot be read changes nothing, is told once, and is told to be over.
func TestReloadRefusesWhatIsBroken(t *testing.T) {
	t.Setenv("TABRELAY_PERMISSIONS", "auto") // as openConfig has it
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w := newWorld(t)
	token := w.token("bob", call.Scope{})
	r, _ := w.relay()
	news, stop := r.events.Subscribe()
	defer stop()
	before := r.tools.Snapshot()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(w.home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\n  \"listn\": \"127.0.0.1:1\"}")
	if _, failure := r.catalog.Reload(); failure == nil {
		t.Fatal("it was taken over")
	}
	e := <-news
	if e.Kind != event.Error || !strings.Contains(e.Message, "config.json:2: listn: no such setting; did you mean "+
		"listen?") || strings.Contains(e.Message, string(w.home)) {
		t.Errorf("the event is %+v", e)
	}
	res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/reload", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	var answer struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil ||
		res.StatusCode != http.StatusUnprocessableEntity || answer.Error.Code != "CONFIG_ERROR" ||
		!strings.Contains(answer.Error.Message, "did you mean listen?") || answer.Error.Hint == "" {
		t.Errorf("the API answers %d %+v %v", res.StatusCode, answer, err)
	}
	if _, said := sends(t, r, http.MethodPost, token, "/api/v1/reload"); !strings.Contains(string(said),
		"did you mean listen?") || strings.Contains(string(said), string(w.home)) {
		t.Errorf("an agent reads %s", said)
	}
	if len(news) != 0 {
		t.Error("the same refusal was told twice")
	}
	if _, there := r.tools.Snapshot().Find("shop__read"); !there || len(r.tools.Snapshot().Tools) != len(before.Tools) {
		t.Error("the tools changed")
	}
	if got := health(t, r); got.Refused == nil || got.Refused.Code != "CONFIG_ERROR" {
		t.Errorf("health says %+v", got.Refused)
	}
	write(`{"listen": "127.0.0.1:1", "logging": {"level": "debug"}, "plugins": {"shop": {"enabled": false}}}`)
	restart, failure := r.catalog.Reload()
	if diff := cmp.Diff([]string{"listen", "demo.listen", "logging.level"}, restart); diff != "" || failure != nil {
		t.Errorf("%v (-want +got)\n%s", failure, diff)
	}
	if _, there := r.tools.Snapshot().Find("shop__read"); there {
		t.Error("the plugin was switched off, but its tools are there")
	}
	if r.catalog.Refused() != nil {
		t.Error("the refusal outlived its cause")
	}
}

// A configuration that became empty, or is gone, is refused like a broken one: its rules stay.
func TestReloadRefusesWhatIsEmptyOrGone(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"empty":       func(file string) error { return os.Truncate(file, 0) },
		"white space": func(file string) error { return os.WriteFile(file, []byte(" \r\n\t"), 0o600) },
		"a mark":      func(file string) error { return os.WriteFile(file, []byte("\ufeff"), 0o600) },
		"only comments": func(file string) error {
			return os.WriteFile(file, []byte("// mine\n/* all of it */"),
				0o600)
		},
		"gone":       os.Remove,
		"moved away": func(file string) error { return os.Rename(file, file+".away") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			const rules = `{"permissions": {"shop": "off"}}`
			if err := os.WriteFile(w.home.Config(), []byte(rules), 0o600); err != nil {
				t.Fatal(err)
			}
			r, _ := w.relay()
			if _, failure := r.catalog.Reload(); failure != nil {
				t.Fatal(failure)
			}
			before := r.policy.Config().Permissions
			if before["shop"]["*"] != "off" {
				t.Fatalf("the rules are %v", before)
			}
			if err := spoil(w.home.Config()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // nor the second time it is read
				if _, failure := r.catalog.Reload(); failure == nil || failure.Code != fault.ConfigError ||
					failure.Hint == "" {
					t.Fatalf("the failure is %+v", failure)
				}
			}
			if diff := cmp.Diff(before, r.policy.Config().Permissions); diff != "" {
				t.Errorf("the rules changed (-want +got)\n%s", diff)
			}
			if got := health(t, r); got.Refused == nil || !strings.Contains(got.Refused.Reason, "config.json") {
				t.Errorf("health says %+v", got.Refused)
			}
			if err := w.home.Create(); err != nil { // as every command does that could start a relay
				t.Fatal(err)
			}
			if _, failure := r.catalog.Reload(); failure == nil {
				t.Error("a command of tabrelay put an empty configuration in its place")
			}
			if err := os.WriteFile(w.home.Config(), []byte(`{"permissions": {"shop": "ask"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, failure := r.catalog.Reload(); failure != nil || r.catalog.Refused() != nil {
				t.Errorf("what was put in its place is refused: %v", failure)
			}
		})
	}
}

// A relay that never had a configuration needs none.
func TestReloadWithoutConfiguration(t *testing.T) {
	w := newWorld(t)
	if err := os.Remove(w.home.Config()); err != nil {
		t.Fatal(err)
	}
	r, _ := w.relay()
	if _, failure := r.catalog.Reload(); failure != nil {
		t.Error(failure)
	}
	if err := os.WriteFile(w.home.Config(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failure := r.catalog.Reload(); failure != nil {
		t.Error(failure)
	}
	if err := os.Remove(w.home.Config()); err != nil {
		t.Fatal(err)
	}
	if _, failure := r.catalog.Reload(); failure == nil {
		t.Error("the configuration it has meanwhile vanished without a word")
	}
}

// A list of plugins that is empty or gone takes no plugin away, and puts no shipped one in its place.
func TestReloadKeepsTheListOfPlugins(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"empty":   func(file string) error { return os.Truncate(file, 0) },
		"damaged": func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) },
		"gone":    os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("tea", "1", nil)
			cfg := openConfig()
			cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
			r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() }) // the test is over
			tools := len(r.tools.Snapshot().Tools)
			if _, there := r.tools.Snapshot().Find("tea__read"); !there {
				t.Fatal("the plugin is not there")
			}
			if err := spoil(w.home.PluginList()); err != nil {
				t.Fatal(err)
			}
			if _, failure := r.catalog.Reload(); failure == nil || failure.Code != fault.RegistryError ||
				failure.Hint == "" {
				t.Errorf("the failure is %+v", failure)
			}
			if got := len(r.tools.Snapshot().Tools); got != tools {
				t.Errorf("of %d tools there are %d", tools, got)
			}
		})
	}
}

// A plugin that cannot be used is told to the clients that are there, once.
func TestProblemsOfPluginsReachClients(t *testing.T) {
	t.Setenv("TABRELAY_PERMISSIONS", "auto") // as openConfig has it
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w := newWorld(t)
	r, _ := w.relay()
	conn, err := join.Dial(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // only read from
	introduce(t, conn, `{"attach":{"key":"`+strings.Repeat("1", 32)+`","version":"0.1.0"}}`)
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`+
		"\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	// initialize is answered
	lines.Scan()
	// from then on it hears
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	for _, name := range []string{"gone", "away"} {
		// At once, because the relay watches the file, and an empty one is a problem of its own.
		if err := diskfile.Write(w.home.Config(), []byte(`{"plugins": {"`+name+`": {"enabled": true}}}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, failure := r.catalog.Reload(); failure != nil {
				t.Fatal(failure)
			}
		}
		for lines.Scan() && !strings.Contains(lines.Text(), "notifications/message") { // lists change too
		}
		if got := lines.Text(); !strings.Contains(got, `"level":"warning"`) ||
			!strings.Contains(got, "plugin "+name+" is configured but not installed") ||
			!strings.Contains(got, "REGISTRY_ERROR") {
			t.Errorf("the client reads %s", got)
		}
	}
}

// Whatever is wrong with a plugin, an agent reads the same of it from bridge_health and from a reload, and no folder of
// the machine in it. The person reads where it is.
func TestProblemsNameNoFolders(t *testing.T) {
	const manifest = "dist/manifest.json"
	for name, spoil := range map[string]func(dir string) error{
		"its folder is gone":        os.RemoveAll,
		"its folder cannot be read": func(dir string) error { return os.Chmod(dir, 0) },
		"its folder is a file": func(dir string) error {
			return errors.Join(os.RemoveAll(dir),
				os.WriteFile(dir, nil, 0o600))
		},
		"it has no manifest":    func(dir string) error { return os.Remove(filepath.Join(dir, manifest)) },
		"its manifest is empty": func(dir string) error { return os.Truncate(filepath.Join(dir, manifest), 0) },
		"its manifest is no manifest": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, manifest), []byte(`{"name": 5}`), 0o600)
		},
		"its manifest is a folder": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, manifest)), os.Mkdir(filepath.Join(dir, manifest), 0o700))
		},
		"its manifest is unreadable": func(dir string) error { return os.Chmod(filepath.Join(dir, manifest), 0) },
		"it has another name": func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, manifest))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, manifest), bytes.Replace(text, []byte(`"tea"`),
				[]byte(`"cup"`), 1), 0o600))
		},
		"it has no adapter": func(dir string) error { return os.Remove(filepath.Join(dir, "dist", "adapter.js")) },
		"its adapter is a link to nowhere": func(dir string) error {
			file := filepath.Join(dir, "dist", "adapter.js")
			return errors.Join(os.Remove(file), os.Symlink("/data/my tea/adapter.js", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.home = config.Home(filepath.Join(t.TempDir(), "My Things", "home")) // as folders of people are called
			if err := os.MkdirAll(filepath.Dir(string(w.home)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := w.home.Create(); err != nil {
				t.Fatal(err)
			}
			dir := w.put("tea", "1", nil).Dir
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // some of them have no such folder
			token := w.token("ann", call.Scope{})
			cfg := openConfig()
			cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
			r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() }) // the test is over
			person := r.catalog.Problems()
			if os.Geteuid() == 0 && len(person) == 0 {
				t.Skip("the superuser can read it")
			}
			health := health(t, r)
			if len(health.Problems) != 1 || health.Problems[0].Plugin != "tea" || health.Problems[0].Reason == "" {
				t.Fatalf("the problems are %+v, for the person %+v", health.Problems, person)
			}
			var reloaded, listing struct{ Problems []registry.Problem }
			_, said := sends(t, r, http.MethodPost, token, "/api/v1/reload")
			_, list := sends(t, r, http.MethodGet, token, "/api/v1/tools")
			if err := errors.Join(json.Unmarshal(said, &reloaded), json.Unmarshal(list, &listing)); err != nil {
				t.Fatal(err)
			}
			for _, got := range [][]registry.Problem{reloaded.Problems, listing.Problems} {
				if diff := cmp.Diff(health.Problems, got); diff != "" {
					t.Errorf("it is said in two ways:\n%s", diff)
				}
			}
			for _, text := range []string{health.Problems[0].Reason, string(runOwn(t, r, "relay__doctor"))} {
				if found := regexp.MustCompile(`(?:^|[\s"'(=])/[^\s/]+/`).FindString(text); found != "" ||
					strings.Contains(text, "My Things") {
					t.Errorf("an agent reads %q", text)
				}
			}
		})
	}
}

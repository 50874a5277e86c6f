package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/agent/prompt"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// reviewer is a relay whose plugins are reviewed, and the person at its terminal.
type reviewer struct {
	*world
	*Relay
	t   *testing.T
	end func()
}

func (w *world) reviewer(t *testing.T) *reviewer {
	t.Helper()
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen, cfg.Review = "127.0.0.1:0", "", config.Default().Review
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	v := &reviewer{world: w, Relay: r, t: t}
	v.end = func() {
		v.end = func() {}
		r.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { v.end() })
	return v
}

// put writes a built plugin into a folder and adds it. code tells its contents apart.
func (w *world) put(name, code string, change func(*plugin.Manifest)) *plugin.Plugin {
	w.t.Helper()
	p := shop()
	p.Manifest.Name = name
	p.Manifest.Prompts = []plugin.Prompt{{Name: "order", Description: "Orders.", Template: "Order tea."}}
	if change != nil {
		change(&p.Manifest)
	}
	manifest, err := json.Marshal(p.Manifest)
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(string(w.home)), "folders", name)
	for file, text := range map[string]string{
		"dist/manifest.json": string(manifest), "dist/adapter.js": "var tabrelayPlugin = {default: {tools: []}};\n" +
			"var code = " + code + ";\n", "src/index.ts": "// " + code + "\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	loaded, err := build.Load(dir)
	if err == nil {
		_, err = build.Register(w.home.Plugins(), loaded)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return loaded
}

// ask sends a request as the command line does, and returns the status and the answer.
func (v *reviewer) ask(method, path string, body any) (int, []byte) {
	v.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, "http://127.0.0.1/api/v1/"+path,
		bytes.NewReader(text))
	if err != nil {
		v.t.Fatal(err)
	}
	res, err := v.asPerson().Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, answer
}

func (v *reviewer) sheet(name string) (s review.Sheet) {
	v.t.Helper()
	status, answer := v.ask("GET", "reviews/"+name, nil)
	if err := json.Unmarshal(answer, &s); err != nil || status != http.StatusOK {
		v.t.Fatalf("%d %s %v", status, answer, err)
	}
	return s
}

func (v *reviewer) decide(name, hash, verdict string, want int) []byte {
	v.t.Helper()
	status, answer := v.ask("POST", "reviews/"+name, httpapi.Decision{Hash: hash, Verdict: verdict})
	if status != want {
		v.t.Errorf("%s %.12s: HTTP %d %s, want %d", verdict, hash, status, answer, want)
	}
	return answer
}

// again reads the folders again, as the watcher does.
func (v *reviewer) again() {
	v.t.Helper()
	v.catalog.Reconfigure(false)
	if refused := v.catalog.Refused(); refused != nil {
		v.t.Fatal(refused)
	}
}

// serving is the content of a plugin that is offered.
func (v *reviewer) serving(name string) (hash string) {
	for _, site := range v.tools.Snapshot().Sites {
		if site.Plugin.Manifest.Name == name {
			hash = site.Plugin.Hash
		}
	}
	return hash
}

// runs checks everything that tells of a plugin: which content is offered, given to browsers, and shown to agents.
func (v *reviewer) runs(name, hash string, state review.State) {
	v.t.Helper()
	s := v.tools.Snapshot()
	if serving := v.serving(name); serving != hash {
		v.t.Errorf("%.12q is offered, want %.12q", serving, hash)
	}
	_, listed := s.Find(name + "__read")
	_, prompt := prompt.New(v.tools).Find(name + "__order")
	if want := hash != ""; listed != want || prompt != want {
		v.t.Errorf("tool listed %v, prompt listed %v, want %v", listed, prompt, want)
	}
	browser := dialIn(v.t, v.Relay)
	defer browser.Close()
	// after the list of plugins
	if _, err := browser.Ask(v.t.Context(), http.MethodGet, "/api/v1/status", nil); err != nil {
		v.t.Fatal(err)
	}
	given := slices.ContainsFunc(browser.Plugins(), func(p wire.Plugin) bool {
		return p.Name == name &&
			p.Hash == hash
	})
	if given != (hash != "") {
		v.t.Errorf("given to browsers: %v", given)
	}
	reviewed, _ := v.catalog.Reviews()
	for _, one := range reviewed {
		if one.Plugin == name && (one.State != state || one.Serving != hash) {
			v.t.Errorf("the status says %s, serving %.12q; want %s, %.12q", one.State, one.Serving, state, hash)
		}
	}
}

// audited checks what the audit log has of reviews, the first first.
func (v *reviewer) audited(want ...string) {
	v.t.Helper()
	status, answer := v.ask("GET", "audit?kind=review&plugin=tea", nil)
	var log struct {
		Entries []struct{ Decision, DecidedBy, Detail, Client string }
	}
	if err := json.Unmarshal(answer, &log); err != nil || status != http.StatusOK {
		v.t.Fatalf("%d %s %v", status, answer, err)
	}
	var got []string
	for _, e := range slices.Backward(log.Entries) {
		got = append(got, e.Decision+" "+strings.TrimSuffix(strings.TrimPrefix(e.Detail, "content "),
			" of the plugin tea"))
		if e.DecidedBy != "terminal" || e.Client != config.LocalClient {
			v.t.Errorf("the entry is %+v", e)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		v.t.Errorf("audited (-want +got)\n%s", diff)
	}
}

// withoutAdapters checks that the folder browsers load from has no file of a plugin.
func (v *reviewer) withoutAdapters(name string) {
	v.t.Helper()
	found, err := filepath.Glob(filepath.Join(v.home.Extension(), "adapters", name+"-*"))
	if err != nil || len(found) > 0 {
		v.t.Errorf("browsers could load %v (%v)", found, err)
	}
}

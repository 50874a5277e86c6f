//go:build unix

package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// underPolicy puts a policy in place, which returns how to write another one.
func underPolicy(t *testing.T, text string) (file string, write func(text string)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a policy has to belong to root")
	}
	place := config.PolicyFile
	config.PolicyFile = filepath.Join(t.TempDir(), "policy.json")
	t.Cleanup(func() { config.PolicyFile = place })
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(config.PolicyFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	return config.PolicyFile, write
}

// managed is a relay that read its configuration, and what an administrator set, as one that starts does. It does not
// watch its files. Without plugins it has those of the program.
func (w *world) managed(plugins ...plugin.Plugin) *Relay {
	w.t.Helper()
	cfg, err := config.Load(w.home)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	r, err := New(w.t.Context(), cfg, Options{Home: w.home, Log: w.log, Plugins: plugins})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return r
}

// Whoever calls, and however, gets no more than the policy allows; what the person may change says whom to ask.
func TestPolicyHoldsForEverybody(t *testing.T) {
	t.Setenv("TABRELAY_PERMISSIONS", "auto")
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	file, _ := underPolicy(t, `{"contact": "it@example.org", "rules": {"shop__pay": "off", "shop": "ask"},
		"settings": {"review": {"required": true}}}`)
	w := newWorld(t)
	r := w.managed(shop())
	if !r.config.Review.Required {
		t.Error("the environment took the review away")
	}
	for _, s := range []call.Session{
		{ID: "a", Client: "bob", Via: "stdio"}, {ID: "b", Client: "bob", Via: "http"},
		{ID: "c", Client: config.LocalClient, Via: call.ViaSocket}, {ID: "d", Client: "panel", Via: call.ViaPanel},
		{ID: "e", Client: "bob", Via: "stdio", Bounds: &call.Bounds{Agent: "helper"}},
	} {
		_, failure := r.calls.Do(t.Context(), call.Call{ID: call.ID(s.ID), Session: s, Tool: "shop__pay"})
		if failure == nil || failure.Code != fault.PermissionDenied ||
			!strings.Contains(failure.Message, "your organization's policy says so") ||
			!strings.Contains(failure.Hint, "it@example.org") {
			t.Errorf("%s via %s: %v", s.Client, s.Via, failure)
		}
	}
	for _, body := range []string{`{"target": "shop__pay", "mode": "auto"}`, `{"target": "shop__pay", "mode": "ask"}`,
		`{"target": "shop", "mode": "auto", "client": "bob"}`, `{"target": "shop", "mode": "auto", "for": "1h"}`} {
		status, said := w.person(t, http.MethodPut, "/api/v1/permissions", body)
		if status != http.StatusForbidden || !strings.Contains(said, "policy.json") ||
			!strings.Contains(said, "it@example.org") {
			t.Errorf("%s: %d %s", body, status, said)
		}
	}
	if status, said := w.person(t, http.MethodDelete, "/api/v1/permissions?target=shop__pay", ""); status !=
		http.StatusForbidden || !strings.Contains(said, "policy.json") {
		t.Errorf("taken away: %d %s", status, said)
	}
	var listed struct {
		Rules  []struct{ Target, From string }
		Policy struct{ File, Contact string }
	}
	_, said := w.person(t, http.MethodGet, "/api/v1/permissions", "")
	if json.Unmarshal([]byte(said), &listed) != nil ||
		listed.Policy.File != file || listed.Policy.Contact != "it@example.org" || listed.Rules[0].From != "policy" {
		t.Errorf("the rules are %+v", listed)
	}
	if s := r.api.Status(t.Context()); s.Policy != file {
		t.Errorf("the status names the policy %q", s.Policy)
	}
}

// A policy is in effect as soon as it is written; one that is broken, gone, or read with a config.json that is, leaves
// the stricter one of before.
func TestPolicyWhileTheRelayRuns(t *testing.T) {
	t.Setenv("TABRELAY_PERMISSIONS", "auto")
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	file, write := underPolicy(t, `{}`)
	w := newWorld(t)
	r := w.managed(shop())
	may := func(when string, want bool) {
		t.Helper()
		_, failure := r.policy.Allow(call.Access{Session: ann, Tool: "shop__read", Plugin: "shop", ReadOnly: true,
			At: &call.Target{Origin: shopOrigin}})
		if failure == nil != want {
			t.Errorf("%s: %v", when, failure)
		}
	}
	reload := func() *fault.Error {
		_, failure := r.catalog.Reload()
		return failure
	}
	may("at first", true)
	write(`{"rules": {"shop": "off"}}`)
	if failure := reload(); failure != nil {
		t.Fatal(failure)
	}
	may("forbidden", false)
	for _, broken := range []string{"", "{", `{"rules": {}, "sitez": {}}`} {
		write(broken)
		if failure := reload(); failure == nil || failure.Code != fault.ConfigError {
			t.Errorf("%q: %v", broken, failure)
		}
		may("after "+broken, false)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if failure := reload(); failure == nil || !strings.Contains(failure.Message, "is gone, and stays in effect") {
		t.Errorf("gone: %v", failure)
	}
	may("after it is gone", false)
	write(`{}`)
	if failure := reload(); failure != nil {
		t.Fatal(failure)
	}
	may("allowed again", true)
	if err := os.WriteFile(w.home.Config(), []byte(`{"listn": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	write(`{"sites": {"deny": ["` + shopOrigin + `/*"]}}`)
	if failure := reload(); failure == nil {
		t.Error("a broken config.json is accepted")
	}
	may("with a config.json that is broken", false)
}

// A person who keeps config.json broken keeps nothing of a policy from being in effect: neither rules nor settings nor
// which plugins there are. A policy that nothing tells of is found as well.
func TestPolicyWithABrokenConfiguration(t *testing.T) {
	_, write := underPolicy(t, `{}`)
	w := newWorld(t)
	r := w.managed()
	if err := os.WriteFile(w.home.Config(), []byte(`{"listn": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	offered := func() bool { _, ok := r.tools.Snapshot().Find("browser__snapshot"); return ok }
	for _, one := range []struct {
		policy string
		want   bool
	}{
		{`{"plugins": {"allow": [{"hash": "none"}]}}`, false}, {`{}`, true},
		{`{"plugins": {"deny": ["browser"]}}`, false}, {`{"plugins": {"deny": []}}`, true},
		{`{"settings": {"plugins": {"browser": {"enabled": false}}}}`, false},
	} {
		policy, want := one.policy, one.want
		write(policy)
		if _, failure := r.catalog.Reload(); failure == nil || !strings.Contains(failure.Message, "listn") {
			t.Errorf("a broken config.json is accepted: %v", failure)
		}
		if offered() != want {
			t.Errorf("%s: offered: %t", policy, offered())
		}
	}
}

// Plugins that the policy does not name are not offered, those of the program included, and say why.
func TestPolicyOfPlugins(t *testing.T) {
	_, write := underPolicy(t, `{"contact": "it@example.org", "plugins": {"allow": [{"name": "demo"}]}}`)
	w := newWorld(t)
	r := w.managed()
	offered := func() bool { _, ok := r.tools.Snapshot().Find("browser__snapshot"); return ok }
	state := func() (catalog.State, string) {
		for _, v := range r.catalog.List("") {
			if v.Name == "browser" {
				return v.State, v.Reason
			}
		}
		return "", ""
	}
	if state, why := state(); offered() || state != catalog.Off || !strings.Contains(why, "it@example.org") {
		t.Errorf("offered: %t; it is %s: %s", offered(), state, why)
	}
	for policy, want := range map[string]bool{`{}`: true, `{"plugins": {"deny": ["browser"]}}`: false,
		`{"plugins": {"allow": [{"source": "tabrelay"}]}}`: true, `{"plugins": {"allow": []}}`: false} {
		write(policy)
		if _, failure := r.catalog.Reload(); failure != nil {
			t.Fatal(failure)
		}
		if offered() != want {
			t.Errorf("%s: offered: %t", policy, offered())
		}
	}
}

//go:build unix

package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tabrelay/relay/state/config"
)

// A policy in whose place another one comes without any event is read nevertheless.
func TestPolicyThatNothingTellsOf(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a policy has to belong to root")
	}
	place, every := config.PolicyFile, policyTime
	t.Cleanup(func() { config.PolicyFile, policyTime = place, every })
	dir := t.TempDir()
	// etc/tabrelay -> far/link -> old: far is not watched.
	far := filepath.Join(t.TempDir(), "link")
	link := func(to string) error { return errors.Join(os.Symlink(to, far+".new"), os.Rename(far+".new", far)) }
	old, next := filepath.Join(dir, "old"), filepath.Join(dir, "next")
	w := newWorld(t)
	w.write(filepath.Join(old, "policy.json"), `{}`)
	w.write(filepath.Join(next, "policy.json"), `{"rules": {"default": "off"}}`)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "etc"), 0o755), link(old),
		os.Symlink(far, filepath.Join(dir, "etc", "tabrelay"))); err != nil {
		t.Fatal(err)
	}
	config.PolicyFile, policyTime = filepath.Join(dir, "etc", "tabrelay", "policy.json"), time.Millisecond
	c := w.open()
	ctx, stop := context.WithCancel(t.Context())
	applied := make(chan config.Config, 100)
	c.options.Applied = func(cfg config.Config) { applied <- cfg }
	stopped := make(chan bool)
	go func() {
		defer close(stopped)
		c.Watch(ctx, func() {
			if err := link(next); err != nil {
				t.Error(err)
			}
		})
	}()
	if cfg := <-applied; cfg.Managed.Rules["default"]["*"] != "off" {
		t.Errorf("in effect is %+v", cfg.Managed)
	}
	stop()
	<-stopped
	if c.policyChanged() {
		t.Error("the policy in effect counts as another one")
	}
}

// What the list of plugins says of one is the person's to write: it does not make it one of the program's.
func TestPolicyOfAPluginThatPoses(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a policy has to belong to root")
	}
	place := config.PolicyFile
	t.Cleanup(func() { config.PolicyFile = place })
	w := newWorld(t)
	hash := w.put("shop", "1")
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w.write(w.home.PluginList(), `{"plugins": [{"name": "shop", "dir": "`+
		filepath.Join(filepath.Dir(string(w.home)), "shop")+
		`", "pin": {"from": "tabrelay", "integrity": "x", "hash": "`+hash+`"}}]}`)
	config.PolicyFile = filepath.Join(t.TempDir(), "policy.json")
	for policy, want := range map[string]bool{`{"plugins": {"allow": [{"source": "tabrelay"}]}}`: false,
		`{"plugins": {"allow": [{"hash": "` + hash + `"}]}}`: true} {
		w.write(config.PolicyFile, policy)
		w.open()
		if _, offered := w.tools.Snapshot().Find("shop__read"); offered != want {
			t.Errorf("%s: offered: %t", policy, offered)
		}
	}
}

package policy

import (
	"slices"
	"testing"

	"tabrelay/relay/road/call"
)

// The tools that an update brings are told once, until the person has read of them, and are in the audit log. What only
// a configuration brings is no news, nor are the tools of another plugin, which is told of by itself.
func TestUpdatesThatBringTools(t *testing.T) {
	m := newMemory()
	tool := func(name string) call.Access { return call.Access{Tool: name, Plugin: "browser", Shipped: true} }
	var audited []string
	start := func(version string, names ...string) *Policy {
		t.Helper()
		p, err := New(t.Context(), Options{Store: m, Version: version, Config: answeredWithin(0),
			Audit: func(e call.Entry) { audited = append(audited, e.Detail) },
			Tools: func() (list []call.Access) {
				for _, name := range names {
					list = append(list, tool(name))
				}
				return append(list, call.Access{Tool: "browser__own", Plugin: "browser"})
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	told := func(p *Policy, want string) {
		t.Helper()
		if got := p.Updated(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		if got := slices.ContainsFunc(p.Changes(), func(c PendingChange) bool {
			return c.Kind == ChangeUpdated
		}); got != (want != "") {
			t.Errorf("in the panel: %t", got)
		}
		if p.Waiting("") != 0 {
			t.Error("it is counted among what waits for an answer")
		}
		p.Close()
	}
	told(start("1", "browser__click"), "")
	told(start("1", "browser__click", "browser__optional"), "")
	audited = nil
	const first = "tabrelay was updated from version 1 to 2: new tools: none → browser__drag"
	told(start("2", "browser__click", "browser__drag", "dev__trace"), first)
	if !slices.Contains(audited, first) {
		t.Errorf("the audit log has %q", audited)
	}
	audited = nil
	told(start("2", "browser__click", "browser__drag"), first)
	if slices.Contains(audited, first) {
		t.Error("it is in the audit log again")
	}
	p := start("3", "browser__click", "browser__drag", "browser__see", "browser__optional", "dev__trace")
	const all = "tabrelay was updated from version 1 to 3: new tools: none → browser__drag, browser__see"
	d := call.Decision{Allow: true, By: ByPanel, Digest: p.toAcknowledge().updated.Digest()}
	if got := p.Updated(); got != all {
		t.Errorf("told %q", got)
	}
	if err := p.Answer(t.Context(), ChangeUpdated, "", d); err != nil {
		t.Fatal(err)
	}
	told(p, "")
	told(start("3", "browser__click"), "")
	told(start("4", "browser__click", "browser__drag", "browser__see"), "")
}

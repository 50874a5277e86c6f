package delegation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/worker"
	"tabrelay/relay/state/config"
)

// What agents lack is named for the doctor, each thing once, and for clients in one line without folders.
func TestLacksAreNamedOnce(t *testing.T) {
	keyless := ModelProvider{ID: "openai", Trouble: "No key for the provider openai: the file /home/ann/keys/openai " +
		"cannot be read: open /home/ann/keys/openai: permission denied."}
	model := func(id string) Agent { return NewModel(ModelOptions{ID: id, Providers: []ModelProvider{keyless}}) }
	program := func(command string) Agent {
		w := worker.New(worker.Options{ID: "claude", Command: command})
		return NewProgram(ProgramOptions{ID: "claude", Worker: w})
	}
	plain := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		agents []Agent
		want   []string
	}{
		"nothing":              {[]Agent{&scripted{id: "echo"}, program("sh")}, nil},
		"a key, for two":       {[]Agent{model("a"), model("b")}, []string{ProviderUnusable}},
		"a program":            {[]Agent{program("/home/ann/bin/no-such-program")}, []string{ProgramMissing}},
		"permission to run it": {[]Agent{program(plain)}, []string{ProgramMissing}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Delegation{Sessions: newSessions(t, nil, c.agents...)}
			var got []string
			for _, lack := range d.Lacks() {
				got = append(got, lack.ID)
			}
			trouble, next := d.trouble()
			if !slices.Equal(got, c.want) || (trouble == "") != (c.want == nil) || (next == "") != (c.want == nil) {
				t.Errorf("%v; %q, %q", got, trouble, next)
			}
			if strings.ContainsAny(trouble, "\n") || strings.Contains(trouble, "/home") {
				t.Errorf("clients read %q", trouble)
			}
		})
	}
	costs := &Costs{perDay: 1, today: 2, day: today()}
	d := &Delegation{Sessions: newSessions(t, nil, &scripted{id: "echo"}), costs: costs}
	if list := d.Lacks(); len(list) != 1 || list[0].ID != DaySpent || !strings.Contains(list[0].What, "$2.00") {
		t.Errorf("%+v", list)
	}
	if trouble, _ := d.trouble(); trouble != "" {
		t.Errorf("%q", trouble)
	}
}

func TestUnpricedModelsAreNamedWhileCostIsBounded(t *testing.T) {
	c := agentconfig.Section.Of(config.Default())
	c.Providers = map[string]agentconfig.Provider{
		"local":  {BaseURL: "http://127.0.0.1:1/v1", Models: []string{"x"}},
		"openai": {Models: []string{"a", "b"}, Pricing: map[string]agentconfig.Price{"a": {}}},
		"other":  {},
	}
	if got := Unpriced(&c); !slices.Equal(got, []string{"b of openai", "all of other"}) {
		t.Errorf("%q", got)
	}
	c.Limits.CostPerDayUSD = 0
	if got := Unpriced(&c); got != nil {
		t.Errorf("without a bound: %q", got)
	}
}

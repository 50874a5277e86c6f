package delegation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/fault"
)

// The findings of the doctor that are about agents.
const (
	ProviderUnusable = "provider-unusable"
	ProgramMissing   = "worker-missing"
	ProgramEnds      = "worker-restarts"
	DaySpent         = "day-spent"
)

// findings are what the doctor says about them.
var findings = []doctor.Row{
	{ID: ProviderUnusable, Severity: doctor.Problem,
		What: "A provider of models cannot be used, so some agent cannot be delegated to.",
		Why:  "The environment of the relay, a file or the keyring has no key for it, or its settings are wrong.",
		Next: "provide what is named, where the relay is started; then run: tabrelay down, then tabrelay up"},
	{ID: ProgramMissing, Severity: doctor.Problem,
		What: "The program of a worker is not there, or cannot be executed.",
		Why:  "It is not installed, not in the PATH of the relay, or its file has no permission to be executed.",
		Next: "install it, or correct command of the worker in config.json"},
	{ID: ProgramEnds, Severity: doctor.Problem,
		What: "A worker ended so often that it is not started for a while.",
		Why:  "Its program ended six times within a minute.",
		Next: "run: tabrelay logs, which shows what it wrote last; then tabrelay agents test NAME"},
	{ID: DaySpent, Severity: doctor.Warning,
		What: "Delegated agents have spent the budget of the day.",
		Why:  "Requests to models are refused for the rest of the day.",
		Next: "wait for tomorrow, or raise delegation.costPerDayUsd in config.json"},
}

// lacking is an agent that knows more than its Info says of why it cannot be used. Lacks may look at files.
type lacking interface{ Lacks() []doctor.Lack }

// Lacks implements lacking: the providers that cannot be used.
func (m *Model) Lacks() (list []doctor.Lack) {
	for _, p := range m.options.Providers {
		if p.Trouble != "" {
			list = append(list, doctor.Lack{ID: ProviderUnusable, What: p.Trouble})
		}
	}
	return list
}

// Lacks implements lacking: a program that is not there, or ends again and again.
func (p *Program) Lacks() []doctor.Lack {
	if err := p.options.Worker.Missing(); err != nil {
		what := fmt.Sprintf("The program of the worker %s cannot be run: %v", p.options.ID, err)
		return []doctor.Lack{{ID: ProgramMissing, What: what}}
	}
	if left := p.options.Worker.Held(); left > 0 {
		return []doctor.Lack{{ID: ProgramEnds, What: fmt.Sprintf("The worker %s ended too often, and is not "+
			"started for %d s",
			p.options.ID, int(left.Seconds())+1)}}
	}
	return nil
}

// Lacks is what keeps agents from working, each thing once.
func (d *Delegation) Lacks() []doctor.Lack {
	list := d.lacks()
	if costs := d.Costs(); costs != nil {
		if failure := costs.Refuse(); failure != nil {
			list = append(list, doctor.Lack{ID: DaySpent, What: failure.Message})
		}
	}
	return list
}

func (d *Delegation) lacks() (list []doctor.Lack) {
	for _, m := range d.Members() {
		if one, ok := m.Agent.(lacking); ok {
			for _, lack := range one.Lacks() {
				if !slices.Contains(list, lack) {
					list = append(list, lack)
				}
			}
		}
	}
	return list
}

// mostTrouble is how long the line is in which bridge_health tells what agents lack.
const mostTrouble = 400

// trouble is what agents lack, in one line for clients, and what to do; empty when all can be used.
func (d *Delegation) trouble() (trouble, next string) {
	var what []string
	for _, lack := range d.lacks() {
		what = append(what, strings.TrimSuffix(ForClients(lack.What), ".")+".")
	}
	if len(what) == 0 {
		return "", ""
	}
	return clip.Bytes(strings.Join(what, " "), mostTrouble),
		"Ask the person to run `tabrelay doctor`, which says what to do."
}

// ForClients is what is said to the person, as clients may read it: without folders and what looks like a credential.
func ForClients(text string) string { return fault.Redact(fault.WithoutFolders(text)) }

// Unpriced names the models that cost nothing as far as is known, although a day's cost is bounded: nobody configured
// their pricing. Those on this machine are not among them.
func Unpriced(c *agentconfig.Settings) (names []string) {
	if c.Limits.CostPerDayUSD <= 0 {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[id]
		switch {
		case p.Local():
		case len(p.Models) == 0 && len(p.Pricing) == 0:
			names = append(names, "all of "+id)
		default:
			for _, model := range p.Models {
				if _, ok := p.Pricing[model]; !ok {
					names = append(names, model+" of "+id)
				}
			}
		}
	}
	return names
}

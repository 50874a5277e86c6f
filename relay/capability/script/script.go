// Package script is relay__run: an agent sends a script that calls tools, and gets back what the script returns. The
// script runs in a process of its own (package engine); each call that it makes is carried out as a call of the agent's
// session like any other.
package script

import (
	"sync/atomic"

	"tabrelay/relay/capability"
	"tabrelay/relay/state/config"
)

//go:generate go test -run TestPanelKnowsTheAnswers -update .

// Group is the group of its tool.
const Group = "script"

// Capability is scripts, as a program attaches it.
var Capability = capability.Capability{
	Name: name, Settings: section, Group: Group, Instructions: instructions,
	Commands: []capability.Command{runCommand, scriptsCommand},
	Codes:    codes, Situations: situations, Tables: tables,
	New: func(core capability.Core) capability.Attachment {
		s := New(core)
		return capability.Attachment{
			Tools: s.Tools, Routes: s.routes(), Close: s.Close,
			Configured: func(c config.Config) { s.configure(section.Of(c)) },
		}
	},
}

// instructions are what a client is told that has this tool and no others.
const instructions = `relay__run runs a script that calls the tools of this relay, all of those that you may call: ` +
	`"Object.keys(tools)" says of which web apps there are any, and "Object.keys(tools.NAME)" which ones.`

// Scripts are the scripts of one relay.
type Scripts struct {
	core     capability.Core
	settings atomic.Pointer[settings]
	running  atomic.Int64
	spare    spare
	kept     kept
}

// New makes it in a relay.
func New(core capability.Core) *Scripts {
	s := &Scripts{core: core}
	s.kept = kept{store: core.Store, first: map[key]*first{}}
	s.configure(section.Of(core.Config))
	return s
}

func (s *Scripts) configure(c settings) {
	s.settings.Store(&c)
	s.spare.close(false) // it was started with the limits of before
}

// Close ends what is kept ready.
func (s *Scripts) Close() { s.spare.close(true) }

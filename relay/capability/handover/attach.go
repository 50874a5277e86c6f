// Package handover is relay__ask_person: an agent that cannot go on by itself (a captcha, a second factor, a decision)
// hands the page to the person, who does their part and hands it back.
package handover

import (
	"sync/atomic"
	"time"

	"tabrelay/relay/capability"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/config"
)

//go:generate go test -run TestPanelKnowsTheAnswers -update .

// Group is the group of the tool.
const Group = "handover"

// Capability is handing over, as a program attaches it.
var Capability = capability.Capability{
	Name: "handover", Settings: section, Group: Group, Instructions: instructions,
	New: attach,
}

// instructions are what a client is told that has this tool and no others.
const instructions = "relay__ask_person asks the person to do by hand what you cannot, in a tab that you name, and " +
	"answers once they have."

// settings bound what agents may ask of a person.
type settings struct {
	Time    time.Duration
	PerHour int
}

var section = &config.Section[settings]{
	Capability: "handover", Live: true,
	About: "Whether agents get relay__ask_person, with which they hand a page to you when they cannot go on.",
	Settings: []config.Setting[settings]{
		config.Row("handover.timeoutMs", config.Millis(1_000, time.Hour), 300_000,
			func(s *settings) any { return &s.Time },
			"How long a request for your hand stays open where the agent says nothing else; it may say less."),
		config.Row("handover.perHour", config.Count(1, 1000), 20, func(s *settings) any { return &s.PerHour },
			"How many requests one client may make within an hour. Beyond it, it is told when it may again."),
	},
}

// desk is the requests of one relay.
type desk struct {
	capability.Core
	settings atomic.Pointer[settings]
	open     requests
}

func attach(core capability.Core) capability.Attachment {
	d := &desk{Core: core}
	d.configure(core.Config)
	return d.running()
}

// running is what it brings to its relay.
func (d *desk) running() capability.Attachment {
	return capability.Attachment{
		Tools: d.tools, Configured: d.configure, Waiting: d.open.count, Advice: advice,
		Routes: []httpapi.Route{
			{Pattern: "GET /api/v1/handovers", Access: httpapi.Person, Handler: httpapi.Answers(d.show)},
			{Pattern: "POST /api/v1/handovers/{id}", Access: httpapi.Person, Handler: httpapi.Answers(d.end)},
		},
		TabGone:      func(profileID string, tabID int) { d.open.end(tabClosed, inTab(profileID, tabID)) },
		SessionEnded: func(session string) { d.open.end(clientLeft, ofSession(session)) },
		Paused:       func() { d.open.end(stopped, every) },
		Close:        func() { d.open.end(relayStops, every) },
	}
}

func (d *desk) configure(c config.Config) {
	s := section.Of(c)
	d.settings.Store(&s)
}

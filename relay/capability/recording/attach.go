// Package recording records what a person does in a tab, for them at a terminal, who has a draft of a plugin made from
// it. Nothing that was recorded is kept here.
package recording

import (
	"sync"

	"tabrelay/relay/capability"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/config"
)

//go:generate go test -run TestPanelKnowsTheAnswers -update .

// Capability is recording, as a program attaches it.
var Capability = capability.Capability{
	Name: "recording", Commands: []capability.Command{{Under: "plugin", Make: newCommand}}, New: attach,
	Settings: &config.Section[struct{}]{
		Capability: "recording", About: "Whether you can record a tab to have a draft of a plugin made from it.",
	},
}

// recorder is recording in one relay.
type recorder struct {
	capability.Core
	runs     runs
	stopping chan struct{} // closed when no recording goes on
	stopOnce sync.Once
}

func attach(core capability.Core) capability.Attachment {
	r := &recorder{Core: core, stopping: make(chan struct{})}
	return capability.Attachment{
		Routes: []httpapi.Route{
			{Pattern: "GET /api/v1/recordings", Access: httpapi.Person, Handler: httpapi.Answers(r.show)},
			{Pattern: "POST /api/v1/recordings", Access: httpapi.Person, Handler: httpapi.Streams(r.record)},
			{Pattern: "DELETE /api/v1/recordings/{profile}/{tab}", Access: httpapi.Person,
				Handler: httpapi.Answers(r.stop)},
		},
		Paused: r.stopAll,
		Close:  func() { r.stopOnce.Do(func() { close(r.stopping) }) },
	}
}

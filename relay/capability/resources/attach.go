package resources

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
)

// Capability is resources, as a program attaches it.
var Capability = capability.Capability{Name: "resources", Settings: section, New: attach}

// attach makes the set of a relay.
func attach(core capability.Core) capability.Attachment {
	c, log := section.Of(core.Config), core.Log("resource")
	set := New(Options{
		Browser: core.Browsers, Policy: core.Reading, Readable: core.Reading.Readable, PageChars: core.Config.MaxBytes,
		Keep: core.Kept, Events: core.Events, Audit: core.Audit, Log: log,
		Roots: c.Roots, FileBytes: int64(c.FileBytes), Web: c.HTTPS, Git: c.Git, Providers: c.Providers,
	})
	for _, problem := range set.Problems() {
		log.Warn().Msg(problem)
	}
	return capability.Attachment{Resources: set}
}

// Options are what there is to read. Whatever is nil or empty has no resources, or is refused with the reason.
type Options struct {
	Browser   capability.Browsers
	PageChars int                // of a page in one answer; 0: 102 400
	Readable  func(string) bool  // whether a page with that address may be listed and read; nil: every page
	Policy    capability.Reading // nil: every client may read what is readable
	Audit     func(call.Entry)   // hears of each reading; may be nil

	Keep   Keep
	Events *event.Bus

	Roots     []string // absolute folders whose files can be read
	FileBytes int64    // of one file; 0: 10 MiB

	Web       Outside
	Git       Outside
	Providers map[string]Program // by scheme

	// Addresses decides which addresses may be dialled; nil: public ones only. No configuration reaches it.
	Addresses func(netip.Addr) bool
	// Authorities (certificates, PEM) are trusted in place of the system's; nil: the system's. No configuration reaches
	// it.
	Authorities []byte

	Log zerolog.Logger
}

// outside is what may be fetched from the network.
type outside struct{ Outside }

func orDefault(o Outside, timeout time.Duration, bytes int) outside {
	o.Timeout, o.MaxBytes = cmp.Or(o.Timeout, timeout), cmp.Or(o.MaxBytes, bytes)
	return outside{o}
}

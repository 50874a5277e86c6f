package resource

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/state/config"
)

// Options are what there is to read. Whatever is nil or empty has no resources, or is refused with the reason.
type Options struct {
	Browser   Browser
	PageChars int               // of a page in one answer; 0: 102 400
	Readable  func(string) bool // whether a page with that address may be listed and read; nil: every page
	Policy    Policy            // nil: every client may read what is readable
	Audit     func(call.Entry)  // hears of each reading; may be nil

	Keep   Keep
	Events *event.Bus

	Roots     []string // absolute folders whose files can be read
	FileBytes int64    // of one file; 0: 10 MiB

	Web       config.Outside
	Git       config.Outside
	Providers map[string]config.Program // by scheme

	// Addresses decides which addresses may be dialled; nil: public ones only. No configuration reaches it.
	Addresses func(netip.Addr) bool
	// Authorities (certificates, PEM) are trusted in place of the system's; nil: the system's. No configuration reaches
	// it.
	Authorities []byte

	Log zerolog.Logger
}

// outside is what may be fetched from the network.
type outside struct{ config.Outside }

func orDefault(o config.Outside, timeout time.Duration, bytes int) outside {
	o.Timeout, o.MaxBytes = cmp.Or(o.Timeout, timeout), cmp.Or(o.MaxBytes, bytes)
	return outside{o}
}

// Configured are the options that a configuration has.
func Configured(c config.Config) (Options, error) {
	r := c.Resources
	pages, err := match.NewRule(r.Tabs.URLPatterns, r.Tabs.ExcludePatterns)
	return Options{
		PageChars: c.MaxBytes, Readable: pages.Matches, Roots: r.File.Roots, FileBytes: int64(r.File.MaxBytes),
		Web: r.HTTPS, Git: r.Git, Providers: r.Providers,
	}, err
}

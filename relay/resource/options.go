package resource

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/match"
)

// Options are what there is to read. Whatever is nil or empty has no resources, or is refused with the reason.
type Options struct {
	Browser   Browser
	PageChars int               // of a page in one answer; 0: 102 400
	Readable  func(string) bool // whether a page with that address may be listed and read; nil: every page
	Policy    Policy            // nil: every client may read what is readable
	Audit     func(call.Entry)  // hears of each reading; may be nil

	// Asker is how the client of a request asks its person; nil, or an answer of nil: it cannot.
	Asker func(context.Context) func(context.Context, call.Question) (call.Answer, error)

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

// Outside is what may be fetched from the network.
type Outside struct {
	Hosts   []string // host, or host:port; none: off
	Timeout time.Duration
	Bytes   int64
}

// Program is a person's own provider.
type Program struct {
	Command []string
	Timeout time.Duration
	Bytes   int64
}

func (o Outside) or(timeout time.Duration, bytes int64) Outside {
	o.Timeout, o.Bytes = cmp.Or(o.Timeout, timeout), cmp.Or(o.Bytes, bytes)
	return o
}

// Configured are the options that a configuration has.
func Configured(c config.Config) (Options, error) {
	outside := func(o config.Outside) Outside {
		return Outside{Hosts: o.Hosts, Timeout: o.Timeout, Bytes: int64(o.MaxBytes)}
	}
	r := c.Resources
	programs := map[string]Program{}
	for scheme, p := range r.Providers {
		programs[scheme] = Program{Command: p.Command, Timeout: p.Timeout, Bytes: p.MaxBytes}
	}
	pages, err := match.NewRule(r.Tabs.URLPatterns, r.Tabs.ExcludePatterns)
	return Options{
		PageChars: c.MaxBytes, Readable: pages.Matches, Roots: r.File.Roots, FileBytes: int64(r.File.MaxBytes),
		Web: outside(r.HTTPS), Git: outside(r.Git), Providers: programs,
	}, err
}

// Package resources is what agents can read by URI: pages and consoles of open tabs, what the relay keeps, files of
// configured folders, addresses and repositories of allowed hosts, and what a person's own programs provide. Each
// scheme has one provider. A provider answers with contents or with one of three failures: there is no such resource
// (fault.ResourceNotFound), the URI is wrong (fault.InvalidParams), or the resource cannot be read
// (fault.ResourceUnreadable, whose type says why); what the link to the browser fails with is passed on as it is.
package resources

//go:generate go test -run TestPublished -update .

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

const (
	defaultPageChars = 100 << 10
	defaultBytes     = 10 << 20
	fetchTime        = 15 * time.Second
	cloneTime        = 30 * time.Second
	cloneBytes       = 50 << 20
	slowReads        = 8 // that run at once; others wait
)

// provider reads the resources of one scheme.
type provider interface {
	templates() []call.ResourceTemplate
	list(ctx context.Context, s call.Session) ([]call.Resource, *fault.Error)
	read(ctx context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error)
	watch(s call.Session, u *url.URL, changed func()) (stop func(), failure *fault.Error)
}

// reading is one request for a resource.
type reading struct {
	id      call.ID // in the audit log, also of what a person decides about it
	session call.Session
	ask     func(context.Context, call.Question) (call.Answer, error) // nil: its client cannot ask a person
}

// Set is everything that can be read. Its methods may be called concurrently.
type Set struct {
	providers map[string]provider
	schemes   []string            // in the order of lists
	browser   capability.Browsers // may be nil
	events    *event.Bus          // may be nil
	policy    capability.Reading  // may be nil
	audit     func(call.Entry)
	log       zerolog.Logger

	slow  map[string]bool // schemes whose reads start programs or use the network
	slots chan struct{}   // one for each such read under way
}

// New makes the set.
func New(o Options) *Set {
	s := &Set{
		providers: map[string]provider{}, browser: o.Browser, events: o.Events, policy: o.Policy, audit: o.Audit,
		log:  o.Log,
		slow: map[string]bool{"https": true, "git+https": true}, slots: make(chan struct{}, slowReads),
	}
	add := func(scheme string, p provider) {
		s.providers[scheme] = p
		s.schemes = append(s.schemes, scheme)
	}
	if o.Browser != nil {
		tabs := &tabs{
			browser: o.Browser, chars: cmp.Or(o.PageChars, defaultPageChars), readable: o.Readable, policy: o.Policy,
		}
		add("tab", tabs)
		add("console", &consoles{tabs})
	}
	if o.Events != nil {
		add("events", &events{o.Events})
	}
	if o.Keep != nil {
		add("result", &results{o.Keep})
		add("deadletter", &letters{o.Keep, o.Events})
	}
	guard := newGuard(o)
	add("file", &files{roots: cleanRoots(o.Roots), bytes: cmp.Or(o.FileBytes, defaultBytes),
		watchers: make(chan struct{}, maxWatchers)})
	add("https", &web{guard: guard, outside: orDefault(o.Web, fetchTime, defaultBytes)})
	add("git+https", &git{guard: guard, outside: orDefault(o.Git, cloneTime, cloneBytes), log: o.Log})
	for _, scheme := range slices.Sorted(maps.Keys(o.Providers)) {
		if s.providers[scheme] == nil {
			add(scheme, newProgram(scheme, o.Providers[scheme], o.Log))
			s.slow[scheme] = true
		}
	}
	return s
}

// List implements front.Resources: what exists now and is worth showing, scheme by scheme.
func (s *Set) List(ctx context.Context, session call.Session) ([]call.Resource, *fault.Error) {
	list := []call.Resource{}
	for _, scheme := range s.schemes {
		if s.refuse(session, scheme) != nil {
			continue
		}
		part, failure := s.providers[scheme].list(ctx, session)
		if failure != nil {
			s.log.Warn().Err(failure).AnErr("cause", failure.Err).Str("scheme",
				scheme).Msg("resources could not be listed")
			continue // the others are there
		}
		list = append(list, part...)
	}
	return list, nil
}

// Templates implements front.Resources.
func (s *Set) Templates() []call.ResourceTemplate {
	list := []call.ResourceTemplate{}
	for _, scheme := range s.schemes {
		list = append(list, s.providers[scheme].templates()...)
	}
	return list
}

// Read implements front.Resources. It is in the audit log.
func (s *Set) Read(
	ctx context.Context, session call.Session, uri string, client *front.Asker,
) ([]call.ResourceContents, *fault.Error) {
	return s.audited(ctx, reading{call.NewID(), session, client.Question()}, uri)
}

func (s *Set) read(ctx context.Context, r reading, uri string) ([]call.ResourceContents, *fault.Error) {
	u, p, failure := s.find(r.session, uri)
	if failure != nil {
		return nil, failure
	}
	if s.slow[u.Scheme] {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, gaveUp(ctx, "Waiting for other reads", 0)
		}
	}
	contents, failure := p.read(ctx, r, u)
	if failure != nil {
		s.log.Info().Str("scheme", u.Scheme).Str("code", string(failure.Code)).Str("type", string(failure.Type)).
			AnErr("cause", failure.Err).Msg("a resource could not be read")
		return nil, failure
	}
	for i := range contents {
		contents[i].URI = cmp.Or(contents[i].URI, uri)
	}
	return contents, nil
}

// Watch implements front.Resources. A change is told once it is quiet, and at the latest two seconds after it began.
func (s *Set) Watch(session call.Session, uri string, changed func()) (stop func(), failure *fault.Error) {
	u, p, failure := s.find(session, uri)
	if failure != nil {
		return nil, failure
	}
	d := newDebounce(quietTime, longestQuiet, changed)
	stopWatching, failure := p.watch(session, u, d.hit)
	if failure != nil {
		return nil, failure
	}
	return func() {
		stopWatching()
		d.stop()
	}, nil
}

// OnListChange implements front.ResourcesChanging: tabs come and go, and so do dead letters of the session's client.
func (s *Set) OnListChange(session call.Session, changed func()) (stop func()) {
	d := newDebounce(time.Second, 5*time.Second, changed)
	stops := []func(){d.stop}
	if s.browser != nil {
		stops = append(stops, s.browser.OnTabs(func(n hub.TabNews) {
			if n.Page || n.TabID == 0 {
				d.hit()
			}
		}))
	}
	if s.events != nil {
		stops = append(stops, subscribe(s.events, func(e event.Event) {
			if e.Concerns(session) && e.Data["deadLetter"] != nil {
				d.hit()
			}
		}))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// find reads a URI and finds who serves its scheme, if the client may read anything of it.
func (s *Set) find(session call.Session, uri string) (*url.URL, provider, *fault.Error) {
	u, failure := parse(uri)
	if failure == nil {
		failure = s.refuse(session, u.Scheme)
	}
	if failure != nil {
		return nil, nil, failure
	}
	p := s.providers[u.Scheme]
	if p == nil {
		return nil, nil, notFound(fmt.Sprintf("There are no resources with the scheme %.40q", u.Scheme),
			"The schemes are "+strings.Join(s.schemes, ", ")+".")
	}
	return u, p, nil
}

// Problems names what keeps configured providers from working, one sentence each.
func (s *Set) Problems() []string {
	var all []string
	for _, scheme := range s.schemes {
		if p, ok := s.providers[scheme].(interface{ problem() string }); ok {
			if text := p.problem(); text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}

func notFound(message, hint string) *fault.Error {
	return fault.New(fault.ResourceNotFound, message, fault.WithHint(hint))
}

func invalid(message, hint string) *fault.Error {
	return fault.New(fault.InvalidParams, message, fault.WithHint(hint))
}

func unreadable(t fault.Type, message, hint string, more ...fault.Option) *fault.Error {
	return fault.New(fault.ResourceUnreadable, message, append([]fault.Option{fault.WithType(t), fault.WithHint(hint)},
		more...)...)
}

func tooLarge[N int | int64](limit N, key string) *fault.Error {
	return unreadable(fault.TypeOutputTooLarge, fmt.Sprintf("Resource content exceeds %d bytes", limit),
		"Read a smaller part in another way, or ask the person to raise "+key+".")
}

func moved(location string) *fault.Error {
	return unreadable(fault.TypeRedirect, "The resource is at another address",
		"Read location instead, if that address is one to trust.",
		fault.WithLocation(location))
}

// unwatchable is for what cannot tell that it changed.
func unwatchable(scheme string) *fault.Error {
	return invalid("Resources of the scheme "+scheme+" cannot be subscribed to: nothing tells when they change",
		"Read the resource again when you need it.")
}

// gaveUp is the failure of work whose time was over, or whose caller went away.
func gaveUp(ctx context.Context, what string, after time.Duration) *fault.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return unreadable(fault.TypeTimeout, strings.TrimSuffix(fmt.Sprintf("%s took longer than %s", what, after),
			" than 0s"), "Repeat the request later.", fault.WithRetryable(true))
	}
	return fault.New(fault.Cancelled, "The request was abandoned", fault.WithCause(context.Cause(ctx)))
}

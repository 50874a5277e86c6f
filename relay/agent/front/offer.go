package front

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/registry"
)

// Open knows what is open now, by which lists adapt. Its methods are called concurrently.
type Open interface {
	// Site reports whether a page of a site is open in a connected browser.
	Site(*registry.Site) bool
	// Profiles counts the browser profiles that are connected.
	Profiles() int
	// OnChange calls changed, which does not block, whenever an answer may have changed, until stop.
	OnChange(changed func()) (stop func())
}

// openNow is what is open at one moment, kept until something changes. Lists ask for it, and there are many of them.
type openNow struct {
	changes atomic.Uint64 // of what is open

	mu       lock.Mutex
	seen     uint64 // changes that offer knows of
	snapshot *registry.Snapshot
	offer    *registry.Offer
}

// offerNow is what would be listed to a client that came now.
func (f *Front) offerNow() *registry.Offer {
	if f.options.Open == nil {
		return &registry.Offer{}
	}
	o, snapshot := &f.open, f.options.Tools.Snapshot()
	o.mu.Lock()
	defer o.mu.Unlock()
	changes := o.changes.Load()
	if o.offer != nil && o.seen == changes && o.snapshot == snapshot {
		return o.offer
	}
	offer := snapshot.Offer(f.options.Open.Site, f.options.Open.Profiles() > 1)
	o.seen, o.snapshot, o.offer = changes, snapshot, offer
	return offer
}

// offered is what one session is offered. It only grows: what a model has been shown stays where it is, and a provider
// does not read a whole conversation anew because a list became shorter.
type offered struct {
	mu       lock.Mutex
	last     *registry.Offer // of which everything is in now
	now      *registry.Offer
	budgeted budgetedList
	list     string    // digest of the list that its client was given last; empty: none yet
	used     time.Time // of a session of the modern era
}

// offerTo is what is listed to a session: what is open now, and what was open before.
func (f *Front) offerTo(o *offered) *registry.Offer {
	latest := f.offerNow()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil {
		o.now = &registry.Offer{}
	}
	if o.last != latest {
		o.last, o.now = latest, joined(o.now, latest)
	}
	return o.now
}

// joined is everything in two offers; the first of them when the second adds nothing.
func joined(a, b *registry.Offer) *registry.Offer {
	plugins := maps.Clone(a.Plugins)
	if plugins == nil {
		plugins = map[string]bool{}
	}
	maps.Copy(plugins, b.Plugins)
	sum := &registry.Offer{Plugins: plugins, Profiles: a.Profiles || b.Profiles}
	sum.Key = strings.Join(slices.Sorted(maps.Keys(plugins)), ",")
	if sum.Profiles {
		sum.Key += ";profiles"
	}
	if sum.Key == a.Key {
		return a
	}
	return sum
}

// offers are those of the modern era, by the session that requests name: nothing else ties them together. What a client
// was shown is remembered for as long as it keeps asking.
type offers struct {
	mu   lock.Mutex
	byID map[string]*offered
}

// of returns what a session of the modern era is offered.
func (s *offers) of(session string) *offered {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	o := s.byID[session]
	if o == nil {
		if s.byID == nil {
			s.byID = map[string]*offered{}
		}
		s.forget(now)
		o = &offered{}
		s.byID[session] = o
	}
	o.used = now
	return o
}

// forget makes room: for what nobody has used for as long as a session lives, or else for the one used least recently.
// Called with the lock held, as used is read.
func (s *offers) forget(now time.Time) {
	var oldest string
	for id, o := range s.byID {
		if now.Sub(o.used) > sessionIdle {
			delete(s.byID, id)
		} else if oldest == "" || o.used.Before(s.byID[oldest].used) {
			oldest = id
		}
	}
	if len(s.byID) >= maxSessions {
		delete(s.byID, oldest)
	}
}

// watchOpen listens to what lists adapt to.
func (f *Front) watchOpen() (stop func()) {
	return f.options.Open.OnChange(func() {
		f.open.changes.Add(1)
		f.announceLater(openChanged, f.announceOpen)
	})
}

// openChanged stands for what changes when pages are opened and browsers connect.
const openChanged = "open"

// announceOpen tells those clients, and no others, whose list has more in it than the one they know.
func (f *Front) announceOpen() {
	f.changes.mu.Lock()
	delete(f.changes.waiting, openChanged)
	f.changes.mu.Unlock()
	f.mu.Lock()
	listeners := slices.Collect(maps.Keys(f.listeners))
	f.mu.Unlock()
	for _, c := range listeners {
		if c.learns(f.listFor(c.session, c.tools, c.offered).digest) {
			c.changed(mcp.MethodNotificationToolsListChanged, func(filter mcp.SubscriptionFilter) bool {
				return filter.ToolsListChanged
			})
		}
	}
}

// learns takes note of the list of tools that its client would be given now, and reports whether it is another one than
// the client knows.
func (c *listener) learns(digest string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := c.list != "" && c.list != digest
	c.list = digest
	return news
}

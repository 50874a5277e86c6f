package relay

import (
	"slices"
	"sync"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
)

// passes are the tokens with which somebody is inside: attachments of shims, and requests under way. A client that was
// revoked, or whose token was rotated, has to leave at once, and not at its next question.
type passes struct {
	mu  sync.Mutex
	all map[*pass]struct{}
}

type pass struct {
	token string // empty: there is none, only a name
	name  string
	end   func()
}

// enter notes who came in; end throws them out. leave must be called when they are gone.
func (p *passes) enter(token string, end func()) (leave func()) {
	return p.add(&pass{token: token, end: end})
}

// enterAs is enter for somebody who has no token, but a name that nobody with a token may have.
func (p *passes) enterAs(name string, end func()) (leave func()) {
	return p.add(&pass{name: name, end: end})
}

func (p *passes) add(one *pass) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*pass]struct{}{}
	}
	p.all[one] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, one)
	}
}

// review throws out whoever's token does not hold any more, and returns how many that were.
func (p *passes) review(holds func(token string) bool, free func(name string) bool) (out int) {
	p.mu.Lock()
	var over []*pass
	for one := range p.all {
		if one.token != "" && !holds(one.token) || one.token == "" && !free(one.name) {
			over = append(over, one)
		}
	}
	p.mu.Unlock()
	for _, one := range over {
		one.end()
	}
	return len(over)
}

// review looks again at everybody inside, after secrets.json has changed. What follows from the change has happened when
// it returns.
func (r *Relay) review() {
	r.roster.turn.Lock()
	defer r.roster.turn.Unlock()
	r.reviewAs(call.Session{Client: config.LocalClient, Via: "cli"})
}

// reviewAs is review after a change that somebody made over the API. Its caller has the turn, from before the change on:
// the watcher is not to take the change for one of the terminal.
func (r *Relay) reviewAs(by call.Session) {
	if err := r.secrets.Check(); err != nil { // no news of anybody; new questions are refused until it can be read again
		r.Log.Warn().Err(err).Msg("the secrets cannot be read")
		return
	}
	var changes []change
	if known := r.secrets.Known(); known != nil {
		changes = r.roster.compare(*known)
	}
	done := r.shutOut(changes)
	if out := r.passes.review(func(token string) bool { _, ok := r.secrets.Verify(token); return ok }, func(name string) bool { return !r.nameTaken(name) }); out > 0 {
		r.Log.Info().Int("connections", out).Msg("clients whose tokens do not hold any more were shut out")
	}
	done()
	r.tellChanges(changes, by)
	clients := r.secrets.Clients()
	r.hub.ClientsLeft(func(name string) bool {
		return name == config.LocalClient || slices.ContainsFunc(clients, func(c config.Client) bool { return c.Name == name })
	})
}

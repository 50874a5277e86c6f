package client

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

const (
	// endingTime is how long calls may take to end that are ended because their client is shut out.
	endingTime = time.Second

	// answerTime is how long their answers may take to leave after that, before their connections are closed.
	answerTime = 50 * time.Millisecond
)

// Difference is what happened to one client.
type Difference struct {
	client, what string
	out          bool // whoever has the token it had is shut out
	expired      bool // nobody did it: its token had an end
}

// Compare says what is different about the clients.
func Compare(before, after []config.Client) (list []Difference) {
	last := map[string]config.Client{}
	for _, one := range before {
		last[one.Name] = one
	}
	for _, one := range after {
		was, there := last[one.Name]
		delete(last, one.Name)
		if !there {
			what := "was added, with the scope: " + policy.ScopeWords(one.Scope)
			if !one.Expires.IsZero() {
				what += "; its token lasts " + policy.LastsWords(one.Expires)
			}
			list = append(list, Difference{client: one.Name, what: what})
			continue
		}
		if was.TokenHash != one.TokenHash {
			list = append(list, Difference{client: one.Name, what: "has a new token", out: true})
		}
		if !was.Expires.Equal(one.Expires) {
			list = append(list, Difference{client: one.Name, what: "has a token that lasts " +
				policy.LastsWords(one.Expires)})
		}
		if was.Scope != one.Scope {
			list = append(list, Difference{client: one.Name, what: "has another scope: " +
				policy.ScopeWords(one.Scope)})
		}
	}
	for name := range last {
		list = append(list, Difference{client: name, what: "was revoked", out: true})
	}
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.client, b.client),
			cmp.Compare(a.what, b.what))
	})
	return list
}

// Expired says whose tokens expired after one time and by another.
func Expired(clients []config.Client, after, by time.Time) (list []Difference) {
	for _, one := range clients {
		if one.Expired(by) && !one.Expired(after) {
			list = append(list, Difference{client: one.Name, what: "has a token that expired", out: true,
				expired: true})
		}
	}
	return list
}

// Entry is a difference as the audit log has it, made by whoever had this session.
func (d Difference) Entry(by call.Session) call.Entry {
	e := call.Entry{
		At: time.Now(), Kind: call.EntryClient, Session: call.Session{Client: d.client, Via: by.Via, ID: by.ID},
		Decision: d.what, DecidedBy: policy.Answerer(by), Detail: "The client " + d.client + " " + d.what,
	}
	if d.expired {
		e.Session.Via, e.Session.ID, e.DecidedBy = "", "", policy.ByRelay
	}
	return e
}

// Change changes clients, for whoever has this session. What follows from it has happened when it returns.
func (c *Clients) Change(by call.Session, change func() error) (err error) {
	closed := c.changes.Do(func() {
		if err = change(); err == nil {
			c.review(by)
		}
	})
	return cmp.Or(err, closed)
}

// Review looks again at everybody, after secrets.json has changed. What follows from that has happened when it returns.
func (c *Clients) Review() {
	_ = c.changes.Do(func() { // a relay that stops serves nobody
		c.review(call.Session{Client: config.LocalClient, Via: call.ViaSocket})
	})
}

// review shuts out whoever's token does not hold any more, and tells what is different. Only changes call it.
func (c *Clients) review(by call.Session) {
	o := &c.options
	// no news of anybody; new questions are refused until it can be read again
	if err := o.Secrets.Check(); err != nil {
		o.Log.Warn().Err(err).Msg("the secrets cannot be read")
		return
	}
	var list []Difference
	known := o.Secrets.Known().Load()
	if known != nil {
		list, c.known = Compare(c.known, *known), slices.Clone(*known)
	}
	now := time.Now()
	list = append(list, Expired(c.known, c.looked, now)...)
	c.looked = now
	c.awaitExpiry()
	done := c.shutOut(list)
	c.endStale()
	done()
	clients := o.Secrets.Clients()
	registered := func(name string) bool {
		return slices.ContainsFunc(clients, func(one config.Client) bool { return one.Name == name })
	}
	if len(list) > 0 {
		o.Seen.Forget(registered)
		c.tell(list, by)
	}
	o.Hub.ClientsLeft(func(name string) bool { return name == config.LocalClient || registered(name) })
}

// awaitExpiry has everybody looked at again when the next token expires. Only changes call it.
func (c *Clients) awaitExpiry() {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	next := time.Time{}
	for _, one := range c.known {
		if one.Expires.After(c.looked) && (next.IsZero() || one.Expires.Before(next)) {
			next = one.Expires
		}
	}
	if !next.IsZero() { // timers stand still while a computer sleeps
		c.expiry = time.AfterFunc(min(time.Until(next), time.Minute), c.Review)
	}
}

// shutOut ends what clients have under way whose tokens do not hold any more: nobody is to go on with it. From now on
// until done, they can begin nothing.
func (c *Clients) shutOut(list []Difference) (done func()) {
	o := &c.options
	var ending []<-chan struct{}
	var admit []func()
	for _, d := range list {
		if d.out {
			c.recall(func(s call.Session) bool { return s.Client == d.client })
			admit = append(admit, o.Policy.ShutOut(d.client))
			ending = append(ending, o.Calls.Interrupt(
				func(one dispatch.Running) bool { return one.Session.Client == d.client },
				"The client "+d.client+" "+d.what+", so its calls were ended")...)
		}
	}
	if len(ending) > 0 {
		o.Log.Info().Int("calls", len(ending)).Msg("ended the calls of clients that lost access")
		late, cancel := context.WithTimeout(o.Base, endingTime)
		defer cancel()
		for _, ended := range ending {
			select {
			case <-ended:
			case <-late.Done():
			}
		}
		async.Sleep(o.Base, answerTime)
	}
	return func() {
		for _, d := range list {
			if d.out {
				o.Front.EndSessions(func(owner call.Session) bool { return owner.Client == d.client })
			}
		}
		for _, done := range admit {
			done()
		}
	}
}

// tell tells what a person changed about clients: clients whose lists are others now, the panels, the events and the
// audit log.
func (c *Clients) tell(list []Difference, by call.Session) {
	o := &c.options
	for _, d := range list {
		e := d.Entry(by)
		o.Log.Info().Str("client", d.client).Str("by", e.DecidedBy).Msg(e.Detail)
		o.Audit(e)
		o.Events.Publish(event.Of(call.Session{Client: d.client}), event.Session, e.Detail,
			map[string]any{"change": d.what})
	}
	o.Policy.ScopesChanged()
	o.Changed(event.TopicClients, event.TopicPlugins)
}

package relay

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
)

// ClientView is one client as a person sees it.
type ClientView struct {
	Name       string     `json:"name"`
	Registered bool       `json:"registered"` // it has a token of its own; false: it is here over the socket of this machine, without one
	Created    *time.Time `json:"created"`    // null for one without a token
	LastSeen   *time.Time `json:"lastSeen"`   // null: never
	Scope      call.Scope `json:"scope"`
	Attached   int        `json:"attached"` // attachments and HTTP sessions that are open now
	Via        []string   `json:"via"`      // how: stdio, http
}

// ClientsView is the answer of GET /api/v1/clients.
type ClientsView struct {
	Clients []ClientView `json:"clients"`
}

// ClientsOf lists who may use the relay of a home folder, by name, when none runs.
func ClientsOf(home config.Home, secrets *config.Secrets) ClientsView {
	last, _ := ClientsSeen(home) // that it cannot be read makes them clients that were never seen
	by := registered(secrets.Clients(), func(name string) time.Time { return last[name] })
	return sorted(by)
}

// Clients lists who may use the relay, and who is here without a token, by name.
func (r *Relay) Clients() ClientsView {
	by := registered(r.secrets.Clients(), r.seen.last)
	now := time.Now().UTC().Truncate(time.Second)
	count := func(client, via string, n int) {
		v := by[client]
		if v == nil {
			v = &ClientView{Name: client, Via: []string{}}
			by[client] = v
		}
		if v.Attached += n; !slices.Contains(v.Via, via) {
			v.Via = append(v.Via, via)
		}
		v.LastSeen = &now
	}
	for _, a := range r.clients.list() {
		count(a.Client, a.Via, 1)
	}
	for client, n := range r.front.Sessions() {
		if client != config.LocalClient {
			count(client, "http", n)
		}
	}
	return sorted(by)
}

// registered are the clients that have a token.
func registered(clients []config.Client, last func(name string) time.Time) map[string]*ClientView {
	by := map[string]*ClientView{}
	for _, c := range clients {
		v := &ClientView{Name: c.Name, Registered: true, Created: &c.Created, Scope: c.Scope, Via: []string{}}
		if at := last(c.Name); !at.IsZero() {
			at = at.UTC().Truncate(time.Second)
			v.LastSeen = &at
		}
		by[c.Name] = v
	}
	return by
}

func sorted(by map[string]*ClientView) ClientsView {
	list := ClientsView{Clients: []ClientView{}}
	for _, v := range by {
		list.Clients = append(list.Clients, *v)
	}
	slices.SortFunc(list.Clients, func(a, b ClientView) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (r *Relay) showClients(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, r.Clients())
}

// scopeClient answers PUT /api/v1/clients/{name}.
func (r *Relay) scopeClient(w http.ResponseWriter, req *http.Request) {
	var body struct {
		Scope *call.Scope `json:"scope"`
	}
	if problem := readBody(w, req, &body); problem != nil || body.Scope == nil {
		if problem == nil {
			problem = fault.New(fault.InvalidRequest, "The body has no scope")
		}
		fault.WithHint(`Send {"scope": {"toolset": "gateway", "plugins": "wiki,mail", "readOnly": true}}; what is left out bounds nothing.`)(problem)
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	bounds, err := policy.NormalScope(*body.Scope)
	if err != nil {
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The scope cannot be read: "+err.Error()))
		return
	}
	name := req.PathValue("name")
	if _, ok := r.confirmed(w, req, policy.ScopeChange(name, r.secrets.Clients(), bounds)); !ok {
		return
	}
	r.changeClient(w, req, func(name string) error { return r.secrets.SetScope(name, bounds) })
}

// NewClient is the body of POST /api/v1/clients.
type NewClient struct {
	Name  string     `json:"name"`
	Scope call.Scope `json:"scope,omitzero"`
}

// Token is the answer of POST /api/v1/clients and POST /api/v1/clients/{name}/rotate. The token is shown this once.
type Token struct {
	Token string `json:"token"`
}

// addClient answers POST /api/v1/clients.
func (r *Relay) addClient(w http.ResponseWriter, req *http.Request) {
	var body NewClient
	if problem := readBody(w, req, &body); problem != nil {
		fault.WithHint(`Send {"name": "inspector", "scope": {"readOnly": true}}.`)(problem)
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	bounds, err := policy.NormalScope(body.Scope)
	if err == nil {
		err = config.CheckClientName(body.Name)
	}
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "The client cannot be added: "+err.Error()))
		return
	case r.registered(body.Name):
		refuse(w, http.StatusConflict, fault.New(fault.InvalidRequest, config.Exists(body.Name).Error()))
		return
	}
	if _, ok := r.confirmed(w, req, policy.AddChange(body.Name, bounds)); !ok {
		return
	}
	r.giveToken(w, req, func() (string, error) { return r.secrets.AddWithin(body.Name, bounds) })
}

// rotateClient answers POST /api/v1/clients/{name}/rotate.
func (r *Relay) rotateClient(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("name")
	if !r.registered(name) {
		refuse(w, http.StatusNotFound, r.noClient(name))
		return
	}
	if _, ok := r.confirmed(w, req, policy.RotateClientChange(name)); !ok {
		return
	}
	r.giveToken(w, req, func() (string, error) { return r.secrets.Rotate(name) })
}

func (r *Relay) registered(name string) bool {
	return slices.ContainsFunc(r.secrets.Clients(), func(c config.Client) bool { return c.Name == name })
}

// noClient says that there is no client of a name, and which there are.
func (r *Relay) noClient(name string) *fault.Error {
	return fault.New(fault.NotFoundCode, config.UnknownClient(name, r.secrets.Clients()).Error(), fault.WithHint("`tabrelay clients list` shows them; `tabrelay clients add NAME` makes one."))
}

// giveToken makes a token at once, and answers with it.
func (r *Relay) giveToken(w http.ResponseWriter, req *http.Request, make func() (string, error)) {
	r.roster.turn.Lock()
	defer r.roster.turn.Unlock()
	token, err := make()
	if err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "There is no token: "+err.Error()))
		return
	}
	session, _ := sender(req.Context())
	r.reviewAs(session)
	reply(w, http.StatusOK, Token{token})
}

// revokeClient answers DELETE /api/v1/clients/{name}.
func (r *Relay) revokeClient(w http.ResponseWriter, req *http.Request) {
	r.changeClient(w, req, r.secrets.Revoke)
}

// changeClient changes a client at once, and answers with those there are.
func (r *Relay) changeClient(w http.ResponseWriter, req *http.Request, change func(name string) error) {
	name := req.PathValue("name")
	if !r.registered(name) {
		refuse(w, http.StatusNotFound, r.noClient(name))
		return
	}
	r.roster.turn.Lock()
	defer r.roster.turn.Unlock()
	if err := change(name); err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "The client could not be changed: "+err.Error()))
		return
	}
	session, _ := sender(req.Context())
	r.reviewAs(session)
	reply(w, http.StatusOK, r.Clients())
}

// arrived notes that a client is here, and says its scope.
func (r *Relay) arrived(client string) call.Scope {
	r.seen.note(client)
	return r.scopeOf(client)
}

// scopeOf is the scope of a registered client as it is kept.
func (r *Relay) scopeOf(client string) call.Scope {
	if known := r.secrets.Known(); known != nil {
		for _, c := range *known {
			if c.Name == client {
				return c.Scope
			}
		}
	}
	return call.Scope{}
}

// roster is the clients as they were at the last look, to tell what has changed.
type roster struct {
	turn sync.Mutex // one change at a time, with all that follows from it; comes before every other lock

	mu   sync.Mutex
	last map[string]config.Client
}

// change is what happened to one client.
type change struct {
	client, what string
	out          bool // whoever has the token it had is shut out
}

// entry is a change as the audit log has it.
func (c *change) entry(by call.Session) call.Entry {
	return call.Entry{
		At: time.Now(), Kind: call.EntryClient, Session: call.Session{Client: c.client, Via: by.Via, ID: by.ID},
		Decision: c.what, DecidedBy: policy.Answerer(by), Detail: "The client " + c.client + " " + c.what,
	}
}

// compare remembers the clients there are, and returns what is different since the last time.
func (l *roster) compare(now []config.Client) (changes []change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, next := l.last == nil, map[string]config.Client{}
	for _, c := range now {
		next[c.Name] = c
		before, there := l.last[c.Name]
		switch {
		case !there:
			changes = append(changes, change{client: c.Name, what: "was added, with the scope: " + policy.ScopeWords(c.Scope)})
			continue
		case before.TokenHash != c.TokenHash:
			changes = append(changes, change{c.Name, "has a new token", true})
		}
		if before.Scope != c.Scope {
			changes = append(changes, change{client: c.Name, what: "has another scope: " + policy.ScopeWords(c.Scope)})
		}
	}
	for name := range l.last {
		if _, there := next[name]; !there {
			changes = append(changes, change{name, "was revoked", true})
		}
	}
	l.last = next
	if first {
		return nil
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.what, b.what)) })
	return changes
}

const (
	// endingTime is how long calls may take to end that are ended because their client is shut out.
	endingTime = time.Second

	// answerTime is how long their answers may take to leave after that, before their connections are closed.
	answerTime = 50 * time.Millisecond
)

// shutOut ends what clients have under way whose tokens do not hold any more: nobody is to go on with it. From now on
// until done, they can begin nothing.
func (r *Relay) shutOut(changes []change) (done func()) {
	var ending []<-chan struct{}
	var admit []func()
	for _, c := range changes {
		if c.out {
			admit = append(admit, r.policy.ShutOut(c.client))
			ending = append(ending, r.calls.Interrupt(func(one dispatch.Running) bool { return one.Session.Client == c.client }, "The client "+c.client+" "+c.what+", so its calls were ended")...)
		}
	}
	if len(ending) > 0 {
		r.Log.Info().Int("calls", len(ending)).Msg("the calls of clients that are shut out were ended")
		late, cancel := context.WithTimeout(r.base, endingTime)
		defer cancel()
		for _, ended := range ending {
			select {
			case <-ended:
			case <-late.Done():
			}
		}
		time.Sleep(answerTime)
	}
	return func() {
		for _, c := range changes {
			if c.out {
				r.front.EndSessions(c.client)
			}
		}
		for _, done := range admit {
			done()
		}
	}
}

// tellChanges tells what a person changed about clients: clients whose lists are others now, the panels, the events
// and the audit log.
func (r *Relay) tellChanges(changes []change, by call.Session) {
	known := r.secrets.Known()
	if len(changes) == 0 || known == nil {
		return
	}
	for _, c := range changes {
		e := c.entry(by)
		r.Log.Info().Str("client", c.client).Str("by", e.DecidedBy).Msg(e.Detail)
		r.audit.Record(e)
		r.events.Publish(event.Of(call.Session{Client: c.client}), event.Session, e.Detail, map[string]any{"change": c.what})
	}
	r.seen.forget(func(name string) bool {
		return slices.ContainsFunc(*known, func(c config.Client) bool { return c.Name == name })
	})
	r.policy.ScopesChanged()
	r.panels.Changed(event.TopicClients, event.TopicPlugins)
}

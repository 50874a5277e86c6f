package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/capability/fleet/signin"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// door knows the clients of a gateway: those that have a token in its home folder, and people who have signed in.
type door struct {
	secrets *config.Secrets
	people  *signin.Verifier // nil: nobody signs in

	mu   lock.Mutex // guards the rest; nothing nests in it
	open map[*entered]struct{}
	stop chan struct{}
}

// entered is a request under way.
type entered struct {
	token string
	until time.Time // of one whose sender has signed in
	end   func()
}

const (
	// lookEvery is how soon a token that was revoked ends what was begun with it.
	lookEvery = time.Second
	// lingers is how long what was begun with an access token may go on after the token has expired. A call waits no
	// longer; a client that listens for news comes again with another token.
	lingers = wire.MaxWait * time.Millisecond
)

// Identify implements httpapi.Tokens. The token of this machine's own programs is for its relay alone.
func (d *door) Identify(token string) (s call.Session, ok bool) {
	name, ok := d.secrets.Verify(token)
	switch {
	case !ok && d.signsIn(token):
		id, err := d.people.Verify(context.Background(), token)
		name = id.Person + "/" + id.Agent
		s = call.Session{ID: "http:" + name, Client: name, Via: call.ViaHTTP, Scope: id.Scope, Remote: true}
		return s, err == nil
	case !ok || name == config.LocalClient:
		return s, false
	}
	s = call.Session{ID: "http:" + name, Client: name, Via: call.ViaHTTP}
	for _, one := range *d.secrets.Known().Load() {
		if one.Name == name {
			s.Scope, s.Remote = one.Scope, one.Remote
		}
	}
	return s, true
}

// has reports whether a client with a token of the gateway's own has this name.
func (d *door) has(name string) bool {
	return slices.ContainsFunc(*d.secrets.Known().Load(), func(one config.Client) bool { return one.Name == name })
}

// signsIn reports whether a token can only be one of the provider.
func (d *door) signsIn(token string) bool { return d.people != nil && signin.IsToken(token) }

// Expired implements httpapi.Tokens.
func (d *door) Expired(token string) error {
	if one, ok := d.secrets.Expired(token); ok {
		return &config.ExpiredError{Client: one}
	}
	return nil
}

// Challenge implements httpapi.Challenger, as RFC 6750 (section 3) and RFC 9728 (section 5.1) say.
func (d *door) Challenge(token string) (params string, refusal *httpapi.Refusal) {
	if d.people == nil {
		return "", nil
	}
	params = fmt.Sprintf("resource_metadata=%q, scope=%q", d.people.MetadataURL(), d.people.ScopeNames()[0])
	var refused *signin.RefusedError
	if token == "" || d.Expired(token) != nil {
		return params, nil
	}
	if !d.signsIn(token) {
		return `error="invalid_token", ` + params, httpapi.NewRefusal(http.StatusUnauthorized, fault.New(
			fault.Unauthorized, "The token is not one of this gateway, and no signed token (JWT)", fault.WithHint(
				"Sign in with "+d.people.Issuer+", which has to issue signed access tokens; or send a token from: "+
					"tabrelay clients add NAME")))
	}
	if _, err := d.people.Verify(context.Background(), token); !errors.As(err, &refused) {
		return params, nil // it was good a moment later
	}
	status, code := http.StatusUnauthorized, fault.Unauthorized
	switch refused.Kind {
	case signin.Away:
		status, code, params = http.StatusServiceUnavailable, fault.Overloaded, ""
	case signin.Uncovered:
		status, code, params = http.StatusForbidden, fault.PermissionDenied, `error="insufficient_scope", `+params
	case signin.Unnamed:
		status, code, params = http.StatusForbidden, fault.PermissionDenied, ""
	default:
		params = `error="invalid_token", ` + params
	}
	return params, httpapi.NewRefusal(status, fault.New(code, refused.Text, fault.WithHint(refused.Next)))
}

// Enter implements httpapi.Tokens.
func (d *door) Enter(token string, end func()) (leave func()) {
	one := &entered{token: token, end: end}
	if d.signsIn(token) {
		one.until = time.Now().Add(lingers)
		if id, err := d.people.Verify(context.Background(), token); err == nil { // as it was a moment ago
			one.until = id.Expires.Add(lingers)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[one] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, one)
	}
}

// watch ends what was begun with tokens that do not hold any more, until close.
func (d *door) watch() {
	stop := make(chan struct{})
	d.mu.Lock()
	d.stop = stop
	d.mu.Unlock()
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				d.endStale()
			}
		}
	}()
}

func (d *door) endStale() {
	d.mu.Lock()
	open := make([]*entered, 0, len(d.open))
	for one := range d.open {
		open = append(open, one)
	}
	d.mu.Unlock()
	for _, one := range open {
		if !d.holds(one) {
			one.end()
		}
	}
}

func (d *door) holds(one *entered) bool {
	if !one.until.IsZero() {
		return time.Now().Before(one.until)
	}
	_, ok := d.Identify(one.token)
	return ok
}

func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.stop)
}

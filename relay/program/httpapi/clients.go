package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// ClientsView is the answer of GET /api/v1/clients.
type ClientsView struct {
	Clients []client.View `json:"clients"`
}

func (a *API) showClients(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	list := a.Clients.List()
	for i := range list {
		list[i].Color = a.Hub.Color(list[i].Name)
	}
	return ClientsView{list}, nil
}

// scopeClient answers PUT /api/v1/clients/{name}.
func (a *API) scopeClient(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body struct {
		Scope *call.Scope `json:"scope"`
	}
	const example = `{"scope": {"toolset": "gateway", "plugins": "wiki,mail", "readOnly": true}}; what is left out ` +
		`bounds nothing`
	problem := ReadBody(w, req, &body, example)
	if problem == nil && body.Scope == nil {
		problem = fault.New(fault.InvalidRequest, "The body has no scope", fault.WithHint("Send "+example+"."))
	}
	if problem != nil {
		return nil, NewRefusal(http.StatusBadRequest, problem)
	}
	bounds, err := policy.NormalScope(*body.Scope)
	if err != nil {
		return nil, NewRefusal(http.StatusBadRequest, malformed("The scope cannot be read: "+err.Error()))
	}
	name := req.PathValue("name")
	if _, denied := a.Confirmed(w, req, policy.ScopeChange(name, a.Secrets.Clients(), bounds)); denied != nil {
		return nil, denied
	}
	return a.changeClient(w, req, func(name string) error { return a.Secrets.SetScope(name, bounds) })
}

// NewClient is the body of POST /api/v1/clients.
type NewClient struct {
	Name  string     `json:"name"`
	Scope call.Scope `json:"scope,omitzero"`
	// it is on another machine, and its token is good for attaching from there
	Remote bool `json:"remote,omitempty"`
	// how long its token lasts, such as 12h or 30d; "never" or empty: until it is revoked
	Expires string `json:"expires,omitempty"`
}

// NewToken is the body of POST /api/v1/clients/{name}/rotate.
type NewToken struct {
	// how long the token lasts, as for a new client; empty: until the old one would have expired
	Expires string `json:"expires,omitempty"`
}

// Token is the answer of POST /api/v1/clients and POST /api/v1/clients/{name}/rotate. The token is shown this once.
type Token struct {
	Token string `json:"token"`
}

// addClient answers POST /api/v1/clients.
func (a *API) addClient(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body NewClient
	if problem := ReadBody(w, req, &body, `{"name": "inspector", "scope": {"readOnly": true}}`); problem != nil {
		return nil, NewRefusal(http.StatusBadRequest, problem)
	}
	bounds, err := policy.NormalScope(body.Scope)
	one := config.Client{Name: body.Name, Scope: bounds, Remote: body.Remote}
	if err == nil {
		one.Expires, err = config.ReadExpiry(cmp.Or(body.Expires, "never"), time.Now())
	}
	switch {
	case err != nil:
	case a.registered(body.Name):
		return nil, NewRefusal(http.StatusConflict, malformed(config.Exists(body.Name).Error()))
	default:
		err = config.CheckNew(body.Name, a.Secrets.Clients())
	}
	if err != nil {
		return nil, NewRefusal(http.StatusBadRequest, malformed("The client cannot be added: "+err.Error()))
	}
	if _, denied := a.Confirmed(w, req, policy.AddChange(one)); denied != nil {
		return nil, denied
	}
	return a.giveToken(w, req, func() (string, error) { return a.Secrets.Admit(one) })
}

// rotateClient answers POST /api/v1/clients/{name}/rotate.
func (a *API) rotateClient(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	name := req.PathValue("name")
	all := a.Secrets.Clients()
	i := slices.IndexFunc(all, func(one config.Client) bool { return one.Name == name })
	if i < 0 {
		return nil, NewRefusal(http.StatusNotFound, a.noClient(name))
	}
	var body NewToken
	if problem := ReadBody(w, req, &body, `{} or {"expires": "30d"}`); problem != nil {
		return nil, NewRefusal(http.StatusBadRequest, problem)
	}
	expires, now := all[i].Expires, time.Now()
	if body.Expires != "" {
		var err error
		if expires, err = config.ReadExpiry(body.Expires, now); err != nil {
			return nil, NewRefusal(http.StatusBadRequest, malformed("No token was made: "+err.Error()))
		}
	} else if all[i].Expired(now) {
		err := &config.ExpiredError{Client: all[i]}
		return nil, NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest, "No token was made: "+err.Error(),
			fault.WithHint(err.Hint())))
	}
	if _, denied := a.Confirmed(w, req, policy.RotateClientChange(all[i], expires)); denied != nil {
		return nil, denied
	}
	return a.giveToken(w, req, func() (string, error) { return a.Secrets.RotateUntil(name, expires) })
}

func (a *API) registered(name string) bool {
	return slices.ContainsFunc(a.Secrets.Clients(), func(c config.Client) bool { return c.Name == name })
}

// noClient says that there is no client of a name, and which there are.
func (a *API) noClient(name string) *fault.Error {
	return fault.New(fault.NotFoundCode, config.UnknownClient(name, a.Secrets.Clients()).Error(),
		fault.WithHint("`tabrelay clients list` shows them; `tabrelay clients add NAME` makes one."))
}

// giveToken makes a token at once, and answers with it.
func (a *API) giveToken(_ http.ResponseWriter, req *http.Request, make func() (string, error)) (any, *Refusal) {
	session := Sender(req.Context())
	var token string
	err := a.Clients.Change(session, func() (err error) {
		token, err = make()
		return err
	})
	if err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
			"There is no token: "+err.Error()))
	}
	return Token{token}, nil
}

// revokeClient answers DELETE /api/v1/clients/{name}.
func (a *API) revokeClient(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	return a.changeClient(w, req, a.Secrets.Revoke)
}

// changeClient changes a client at once, and answers with those there are.
func (a *API) changeClient(w http.ResponseWriter, req *http.Request, change func(name string) error) (any, *Refusal) {
	name := req.PathValue("name")
	if !a.registered(name) {
		return nil, NewRefusal(http.StatusNotFound, a.noClient(name))
	}
	session := Sender(req.Context())
	if err := a.Clients.Change(session, func() error { return change(name) }); err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
			"The client could not be changed: "+
				err.Error()))
	}
	return a.showClients(w, req)
}

package relay

import (
	"net/http"
	"slices"

	"tabrelay/relay/call"
	"tabrelay/relay/client"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
)

// ClientsView is the answer of GET /api/v1/clients.
type ClientsView struct {
	Clients []client.View `json:"clients"`
}

func (r *Relay) showClients(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, ClientsView{r.clients.List()})
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
	session, _ := sender(req.Context())
	var token string
	err := r.clients.Change(session, func() (err error) {
		token, err = make()
		return err
	})
	if err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "There is no token: "+err.Error()))
		return
	}
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
	session, _ := sender(req.Context())
	if err := r.clients.Change(session, func() error { return change(name) }); err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "The client could not be changed: "+err.Error()))
		return
	}
	r.showClients(w, req)
}

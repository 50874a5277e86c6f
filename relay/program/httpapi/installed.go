package httpapi

import (
	"context"
	"net/http"

	"tabrelay/relay/program/connect"
	"tabrelay/relay/road/fault"
)

// InstalledView is the answer of GET /api/v1/installed-clients: the client programs that can be connected, by name, and
// how each is on this machine.
type InstalledView struct {
	Clients []connect.State `json:"clients"`
}

func (a *API) showInstalled(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var v InstalledView
	for _, name := range connect.Names() {
		c, refused := a.installed(req, name)
		if refused != nil {
			return nil, refused
		}
		v.Clients = append(v.Clients, c.State())
	}
	return v, nil
}

// installed is a client program of this machine, which whoever sends the request connects or disconnects.
func (a *API) installed(req *http.Request, name string) (*connect.Connection, *Refusal) {
	client, ok := connect.Find(name)
	if !ok {
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode,
			"There is no client program "+fault.Excerpt(name)+" that tabrelay can connect",
			fault.WithHint("`tabrelay clients add NAME` makes a token for any other.")))
	}
	env, err := connect.Here()
	if err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
			"It is not known where programs keep their settings here: "+err.Error(),
			fault.WithHint("Connect the client in a terminal: tabrelay connect "+name)))
	}
	return &connect.Connection{Client: client, Env: env, Home: a.Home, Tokens: tokensBy{a, req}}, nil
}

// connectInstalled answers POST /api/v1/installed-clients/{name}, as `tabrelay connect` does it. The person has read
// which file is written; another one is not.
func (a *API) connectInstalled(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body struct {
		File string `json:"file"`
	}
	if problem := ReadBody(w, req, &body, `{"file": "/home/ann/.cursor/mcp.json"}`); problem != nil {
		return nil, NewRefusal(http.StatusBadRequest, problem)
	}
	return a.changeInstalled(w, req, func(c *connect.Connection) error {
		if now := c.State().File; now != body.File {
			return fault.New(fault.InvalidRequest, "The file of "+c.Title+" is "+now+" now, and not "+
				fault.Excerpt(body.File)+"; nothing was changed", fault.WithHint("Read it again, and then connect it."))
		}
		_, err := c.Write(req.Context(), nil)
		return err
	})
}

// disconnectInstalled answers DELETE /api/v1/installed-clients/{name}, as `tabrelay disconnect` does it.
func (a *API) disconnectInstalled(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	return a.changeInstalled(w, req, func(c *connect.Connection) error {
		_, err := c.Remove(req.Context())
		return err
	})
}

// changeInstalled changes the file of a client, one at a time, and answers with how all are then.
func (a *API) changeInstalled(w http.ResponseWriter, req *http.Request,
	change func(*connect.Connection) error) (any, *Refusal) {
	c, refused := a.installed(req, req.PathValue("name"))
	if refused != nil {
		return nil, refused
	}
	err := func() error {
		a.connecting.Lock()
		defer a.connecting.Unlock()
		return change(c)
	}()
	if err != nil {
		return nil, NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest, err.Error(),
			fault.WithHint(fault.HintOf(err))))
	}
	return a.showInstalled(w, req)
}

// tokensBy are the tokens of this relay, as whoever sends a request changes them.
type tokensBy struct {
	*API
	req *http.Request
}

// Verify implements [connect.Tokens].
func (t tokensBy) Verify(token string) (client string, ok bool) { return t.Secrets.Verify(token) }

// Has implements [connect.Tokens].
func (t tokensBy) Has(client string) bool { return t.registered(client) }

// Fresh implements [connect.Tokens].
func (t tokensBy) Fresh(_ context.Context, client string) (token string, err error) {
	issue := t.Secrets.Add
	if t.Has(client) {
		issue = t.Secrets.Rotate
	}
	err = t.Clients.Change(Sender(t.req.Context()), func() (err error) {
		token, err = issue(client)
		return err
	})
	return token, err
}

// Revoke implements [connect.Tokens].
func (t tokensBy) Revoke(_ context.Context, client string) error {
	return t.Clients.Change(Sender(t.req.Context()), func() error { return t.Secrets.Revoke(client) })
}

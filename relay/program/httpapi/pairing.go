package httpapi

import (
	"crypto/subtle"
	"net/http"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

// pairingTime is how long a one-time pairing string is good.
const pairingTime = 5 * time.Minute

// Pairing is the answer of POST /api/v1/pairing: what a person pastes into the panel of an extension that has no
// pairing.json, because it did not come from this relay's folder.
type Pairing struct {
	Text  string    `json:"text"` // address and one-time string
	Until time.Time `json:"until"`
}

// Pairings keeps the one-time string that is good now: a new one replaces it. It is never written anywhere.
type Pairings struct {
	mu    lock.Mutex
	code  string // empty: none
	until time.Time
}

var _ hub.Pairings = (*Pairings)(nil)

// make makes a new string.
func (p *Pairings) make() (code string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.until = wire.NewID(), time.Now().Add(pairingTime)
	return p.code, p.until
}

// Code is the string that is good now; empty when there is none.
func (p *Pairings) Code() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !time.Now().Before(p.until) {
		p.code = ""
	}
	return p.code
}

// Use takes a string out of use, and reports whether it was good until then.
func (p *Pairings) Use(code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	good := p.code != "" && time.Now().Before(p.until) && subtle.ConstantTimeCompare([]byte(p.code), []byte(code)) == 1
	if good {
		p.code = ""
	}
	return good
}

// makePairing answers POST /api/v1/pairing.
func (a *API) makePairing(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	if _, denied := a.Confirmed(w, req, policy.NewChange("A string is made that pairs another browser", "tabrelay pair",
		call.Difference{What: "browsers that may connect", Before: "those that are paired",
			After: "also one that is given the string, within " + pairingTime.String()})); denied != nil {
		return nil, denied
	}
	code, until := a.Pairings.make()
	a.Events.Publish(event.OfPerson(), event.Session, "A pairing string was made; it is valid once, for "+
		pairingTime.String(), map[string]any{"until": until})
	return Pairing{Text: a.Address + "/" + code, Until: until}, nil
}

// Rotated is the answer of POST /api/v1/pairing/rotate.
type Rotated struct {
	Folder string `json:"folder"` // of the extension that has the new secret
}

// RotateChange is what a new pairing secret changes.
func RotateChange() *policy.Change {
	return policy.NewChange("The pairing secret is replaced", "tabrelay pair --rotate",
		call.Difference{What: "browsers that may connect", Before: "those that have the secret",
			After: "the extension in tabrelay's own folder, and those that this computer's program tells; others are " +
				"paired again with tabrelay pair"})
}

// rotatePairing answers POST /api/v1/pairing/rotate: the extension in the folder gets the new secret, and every
// connection that was made with the old one ends.
func (a *API) rotatePairing(w http.ResponseWriter, req *http.Request) {
	by, denied := a.Confirmed(w, req, RotateChange())
	if denied != nil {
		denied.Reply(w)
		return
	}
	err := a.Secrets.RotatePairing()
	if err == nil {
		err = a.Catalog.Pair(a.Address, a.Secrets.Pairing())
	}
	if err != nil {
		Refuse(w, http.StatusInternalServerError,
			fault.New(fault.InternalError, "The pairing secret could not be replaced: "+err.Error(),
				fault.WithHint("`tabrelay doctor` looks at the home folder.")))
		return
	}
	a.Audit.Record(call.Entry{
		At: time.Now(), Kind: call.EntryWidening, Session: Sender(req.Context()), Decision: "rotated", DecidedBy: by,
		Detail: "the pairing secret was replaced",
	})
	a.Events.Publish(event.OfPerson(), event.Session, "The pairing secret was replaced; browsers connect again with "+
		"the new one", nil)
	a.Log.Info().Str("by", by).Msg("the pairing secret was replaced")
	Reply(w, http.StatusOK, Rotated{a.Catalog.ExtensionFolder()})
	a.Hub.Redial()
}

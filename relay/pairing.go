package relay

import (
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/hub"
	"tabrelay/relay/policy"
	"tabrelay/relay/wire"
)

// pairingTime is how long a one-time pairing string is good.
const pairingTime = 5 * time.Minute

// Pairing is the answer of POST /api/v1/pairing: what a person pastes into the panel of an extension that has no
// pairing.json, because it did not come from this relay's folder.
type Pairing struct {
	Text  string    `json:"text"` // address and one-time string
	Until time.Time `json:"until"`
}

// pairings keeps the one-time string that is good now: a new one replaces it. It is never written anywhere.
type pairings struct {
	mu    sync.Mutex
	code  string // empty: none
	until time.Time
}

var _ hub.Pairings = (*pairings)(nil)

// make makes a new string.
func (p *pairings) make() (code string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.until = wire.NewID(), time.Now().Add(pairingTime)
	return p.code, p.until
}

// Code is the string that is good now; empty when there is none.
func (p *pairings) Code() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !time.Now().Before(p.until) {
		p.code = ""
	}
	return p.code
}

// Use takes a string out of use, and reports whether it was good until then.
func (p *pairings) Use(code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	good := p.code != "" && time.Now().Before(p.until) && subtle.ConstantTimeCompare([]byte(p.code), []byte(code)) == 1
	if good {
		p.code = ""
	}
	return good
}

// makePairing answers POST /api/v1/pairing.
func (r *Relay) makePairing(w http.ResponseWriter, req *http.Request) {
	if _, ok := r.confirmed(w, req, policy.NewChange("A string is made that pairs another browser", "tabrelay pair",
		policy.Difference{What: "browsers that may connect", Before: "those that are paired", After: "also one that is given the string, within " + pairingTime.String()})); !ok {
		return
	}
	code, until := r.pairings.make()
	r.events.Publish(event.OfPerson(), event.Session, "A pairing string was made; it is good once, for "+pairingTime.String(), map[string]any{"until": until})
	reply(w, http.StatusOK, Pairing{Text: r.Address() + "/" + code, Until: until})
}

// Rotated is the answer of POST /api/v1/pairing/rotate.
type Rotated struct {
	Folder string `json:"folder"` // of the extension that has the new secret
}

// RotateChange is what a new pairing secret changes.
func RotateChange() *policy.Change {
	return policy.NewChange("The pairing secret is replaced", "tabrelay pair --rotate",
		policy.Difference{What: "browsers that may connect", Before: "those that have the secret", After: "the extension in tabrelay's own folder; others are paired again with tabrelay pair"})
}

// pairingRotated is a new pairing secret as the audit log has it.
func pairingRotated(s call.Session, by string) call.Entry {
	return call.Entry{
		At: time.Now(), Kind: call.EntryWidening, Session: s, Decision: "rotated", DecidedBy: by,
		Detail: "the pairing secret was replaced",
	}
}

// rotatePairing answers POST /api/v1/pairing/rotate: the extension in the folder gets the new secret, and every
// connection that was made with the old one ends.
func (r *Relay) rotatePairing(w http.ResponseWriter, req *http.Request) {
	by, ok := r.confirmed(w, req, RotateChange())
	if !ok {
		return
	}
	err := r.secrets.RotatePairing()
	if err == nil {
		err = r.catalog.Pair(r.Address(), r.secrets.Pairing())
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.InternalError, "The pairing secret could not be replaced: "+err.Error(), fault.WithHint("`tabrelay doctor` looks at the home folder.")))
		return
	}
	session, _ := sender(req.Context())
	r.audit.Record(pairingRotated(session, by))
	r.events.Publish(event.OfPerson(), event.Session, "The pairing secret was replaced; browsers connect again with the new one", nil)
	r.Log.Info().Str("by", by).Msg("the pairing secret was replaced")
	reply(w, http.StatusOK, Rotated{r.catalog.Folder()})
	r.hub.Redial()
}

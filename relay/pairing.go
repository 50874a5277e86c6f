package relay

import (
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"tabrelay/relay/event"
	"tabrelay/relay/hub"
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
func (r *Relay) makePairing(w http.ResponseWriter, _ *http.Request) {
	code, until := r.pairings.make()
	r.events.Publish(event.OfPerson(), event.Session, "A pairing string was made; it is good once, for "+pairingTime.String(), map[string]any{"until": until})
	reply(w, http.StatusOK, Pairing{Text: r.Address() + "/" + code, Until: until})
}

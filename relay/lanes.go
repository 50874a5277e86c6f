package relay

import (
	"encoding/json"
	"time"

	"github.com/google/renameio/v2/maybe"
	"github.com/rs/zerolog"

	"tabrelay/relay/config"
	"tabrelay/relay/hub"
	"tabrelay/relay/lock"
	"tabrelay/relay/policy"
)

// lastTabsDelay gathers what changes together before it is written.
const lastTabsDelay = 2 * time.Second

// whereabouts keeps for the next relay where sessions have worked: an agent that goes on after a restart is not sent to
// another tab, profile or account for it. The zero value keeps nothing.
type whereabouts struct {
	path     string
	sessions func() []hub.LastTab
	log      zerolog.Logger

	mu     lock.Mutex
	timer  *time.Timer // runs while something waits to be written
	closed bool
}

// read returns what an earlier relay has written.
func (w *whereabouts) read() (sessions []hub.LastTab, err error) {
	err = config.ReadState(w.path, &sessions)
	return sessions, err
}

// changed has it written soon.
func (w *whereabouts) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil && !w.closed {
		w.timer = time.AfterFunc(lastTabsDelay, w.save)
	}
}

func (w *whereabouts) save() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	if !w.closed {
		w.write()
	}
}

// close writes what has changed, and nothing after that.
func (w *whereabouts) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil && !w.closed {
		w.timer.Stop()
		w.write()
	}
	w.closed = true
}

func (w *whereabouts) write() {
	text, err := json.Marshal(w.sessions())
	if err == nil {
		err = maybe.WriteFile(w.path, append(text, '\n'), 0o600)
	}
	if err != nil {
		w.log.Warn().Err(err).Msg("cannot note where agents work; after a restart they begin anew")
	}
}

// keepLastTabs reads where sessions have worked under an earlier relay.
func (r *Relay) keepLastTabs() ([]hub.LastTab, error) {
	r.where.path, r.where.log = r.Home.Lanes(), r.part("sessions")
	r.where.sessions = func() []hub.LastTab { return r.hub.LastTabs() }
	return r.where.read()
}

// sessionEnded ends what a session owns, and what it was allowed for a session.
func (r *Relay) sessionEnded(session string) {
	r.hub.SessionLeft(session)
	r.policy.Forget(func(g policy.Grant) bool { return hub.Within(g.Session, session) })
}

package relay

import (
	"context"
	"sync"
	"time"

	"tabrelay/relay/audit"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/event"
	"tabrelay/relay/store"
)

// ledger is the audit log of a running relay.
type ledger struct {
	recorder *audit.Recorder // nil until the store is open

	mu      sync.Mutex
	decided map[call.ID]verdict // of calls that have not ended
	closed  bool
}

// verdict is what a person said about a call.
type verdict struct{ said, by string }

// mostDecided bounds the verdicts whose call never ends, which is a mistake of whoever asked.
const mostDecided = 10_000

// openLedger begins to write the audit log.
func (r *Relay) openLedger(ctx context.Context) (err error) {
	r.ledger.decided = map[call.ID]verdict{}
	r.ledger.recorder, err = audit.NewRecorder(ctx, r.store, r.Home.AuditPosition(), r.part("audit"), func() { r.panels.Changed(event.TopicAudit) })
	r.store.OnRecovered(r.callRecovered)
	return err
}

// record writes an entry into the audit log. It waits for the disk only when very many entries do, and then for a
// moment.
func (r *Relay) record(e call.Entry) {
	if r.ledger.take(&e) {
		r.ledger.recorder.Record(e)
	}
}

// recordLate is record for who must not wait at all: the store itself.
func (r *Relay) recordLate(e call.Entry) {
	if r.ledger.take(&e) {
		r.ledger.recorder.Note(e)
	}
}

// recording lets the parts of the relay record.
type recording struct{ *Relay }

// Record implements dispatch.Audit and front.Audit.
func (r recording) Record(e call.Entry) { r.record(e) }

// take adds to the entry of a call what a person said about it.
func (l *ledger) take(e *call.Entry) (open bool) {
	if l.recorder == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch v, ok := l.decided[e.CallID]; {
	case e.CallID == "":
	case e.Kind == call.EntryDecision && len(l.decided) < mostDecided:
		l.decided[e.CallID] = verdict{e.Decision, e.DecidedBy}
	case e.Kind == call.EntryCall && ok:
		e.Decision, e.DecidedBy = v.said, v.by
		delete(l.decided, e.CallID)
	}
	return !l.closed
}

// closeLedger writes down which calls the relay's end leaves open, and then everything that waits for the disk.
func (r *Relay) closeLedger(ctx context.Context) {
	l := &r.ledger
	if l.recorder == nil {
		return
	}
	for _, c := range r.inFlight() {
		r.record(call.Entry{
			At: time.Now(), Kind: call.EntryCall, Session: c.Session, Tool: c.Tool, Plugin: c.Plugin, ProfileID: c.At.ProfileID, Profile: c.At.Profile,
			TabID: c.At.TabID, Origin: c.At.Origin, Outcome: string(call.Unknown), Duration: time.Since(c.Began), CallID: c.ID,
			Detail: "The relay ended while the call ran; the next one asks the browser for its outcome",
		})
	}
	l.mu.Lock()
	l.closed = true // of those calls nothing more is known here
	l.mu.Unlock()
	l.recorder.Close(ctx)
}

func (r *Relay) inFlight() []dispatch.Running {
	if r.calls == nil {
		return nil
	}
	return r.calls.Running()
}

// keeping is how much the store keeps, and how long.
func keeping(c config.Config) store.Limits {
	const day = 24 * time.Hour
	return store.Limits{
		ResultBytes: c.Results.TotalBytes, ResultAge: time.Duration(c.Results.KeepHours) * time.Hour,
		DeadLetters: c.DeadLetters.Max, DeadLetterAge: time.Duration(c.DeadLetters.KeepDays) * day,
		AuditRows: c.Audit.MaxRows, AuditAge: time.Duration(c.Audit.KeepDays) * day,
	}
}

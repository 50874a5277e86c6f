package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// Keeper writes rows down.
type Keeper interface {
	// AuditHead is the last row that was written.
	AuditHead(ctx context.Context) (Head, error)
	// AppendAudit gives each row its number and hash, and returns once all of them are committed, or none.
	AppendAudit(ctx context.Context, rows []Row) error
}

const (
	mostWaiting = 8192                  // entries that wait for the disk; more make their callers wait
	together    = 256                   // rows of one transaction
	mostRead    = 8 << 10               // bytes of arguments that are kept for the preview
	roomWait    = 2 * time.Second       // how long a caller waits when there are too many, before its entry is given up
	batchDelay  = 50 * time.Millisecond // how long a batch waits for more; a relay that is killed loses that much
	retryFirst  = 100 * time.Millisecond
	retryMost   = 10 * time.Second
)

// Recorder takes entries at once and has them written down behind their callers. Its methods may be called
// concurrently.
type Recorder struct {
	keeper Keeper
	log    zerolog.Logger
	wrote  func() // hears of each batch; must not block

	gone string    // why rows that were written are missing; empty: none are
	at   *position // owned by run
	last int64     // number of the last row that was written; owned by run

	mu      lock.Mutex // nothing nests in it
	waiting []pending
	lost    int           // entries since the last batch
	stuck   bool          // somebody waited in vain: nobody else waits until there is room again
	room    chan struct{} // closed when there is room, and made anew; nil: nobody waits for it
	wake    chan struct{} // has an item when there is something to do
	hurry   chan struct{} // has an item when that cannot wait for more
	flushes []flush
	taken   uint64 // entries that came
	written uint64 // entries that were written or given up
	failing bool   // the last attempt to write failed
	closed  bool
	decided map[call.ID]verdict // of calls that have not ended

	stop context.CancelFunc // ends the attempts to write
	done chan struct{}
}

type pending struct {
	entry  call.Entry
	digest string
	cut    bool
}

// verdict is what a person said about a call.
type verdict struct{ said, by string }

// mostDecided bounds the verdicts whose call never ends, which is a mistake of whoever asked.
const mostDecided = 10_000

type flush struct {
	until uint64
	done  chan error // has room for one
}

// NewRecorder makes one that writes until Close. positionFile notes what was written, so that entries which a killed
// relay could not write are a row of the log afterwards, and so is another database. wrote may be nil.
func NewRecorder(ctx context.Context, keeper Keeper, positionFile string, log zerolog.Logger, wrote func()) (*Recorder,
	error) {
	head, err := keeper.AuditHead(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read where the audit log ends: %w", err)
	}
	at, missing, gone, err := openPosition(positionFile, head.N)
	if err != nil {
		return nil, err
	}
	r := newRecorder(keeper, at, log, wrote)
	if gone {
		r.gone = missing
	}
	if missing != "" {
		log.Error().Msg("entries of the audit log are missing: " + missing)
		r.Record(call.Entry{Kind: KindGap, DecidedBy: "relay", Detail: missing})
	}
	return r, nil
}

// Gone says why rows of the log that were written are missing, and with them perhaps more of the database; empty: none
// are.
func (r *Recorder) Gone() string { return r.gone }

func newRecorder(keeper Keeper, at *position, log zerolog.Logger, wrote func()) *Recorder {
	if wrote == nil {
		wrote = func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{
		keeper: keeper, at: at, log: log, wrote: wrote, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		stop: stop, done: make(chan struct{}), decided: map[call.ID]verdict{},
	}
	if at != nil {
		r.last = at.now.Row
	}
	go r.run(ctx)
	return r
}

// Record takes an entry. It does not wait for the disk, except when more entries wait for that than are kept in memory:
// then it waits for a moment, and after that the entry is counted as lost. An entry without a time gets that of now.
func (r *Recorder) Record(e call.Entry) { r.take(e, true) }

// Note takes an entry like Record, but never waits: it is for who must not, and is few enough.
func (r *Recorder) Note(e call.Entry) { r.take(e, false) }

func (r *Recorder) take(e call.Entry, mayWait bool) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	p := pending{entry: e}
	if len(e.Arguments) > 0 {
		sum := sha256.Sum256(e.Arguments)
		p.digest = hex.EncodeToString(sum[:])
		p.cut = len(e.Arguments) > mostRead
		// they are part of a larger message
		p.entry.Arguments = append([]byte(nil), e.Arguments[:min(len(e.Arguments), mostRead)]...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decide(&p.entry)
	switch {
	case r.closed && e.Kind == call.EntryCall: // what is known of it was written when the relay's end cut it short
	case mayWait && len(r.waiting) >= mostWaiting && !r.await():
		r.lost++
	case r.closed:
		r.log.Error().Str("kind", string(e.Kind)).Str("correlationId",
			string(e.CallID)).Msg("an entry of the audit log came after its end and is lost")
	default:
		r.waiting = append(r.waiting, p)
		r.taken++
		r.signal(r.wake)
		if len(r.waiting) >= together {
			r.signal(r.hurry)
		}
	}
}

// decide adds to the entry of a call what a person said about it. The lock is held.
func (r *Recorder) decide(e *call.Entry) {
	switch v, ok := r.decided[e.CallID]; {
	case e.CallID == "":
	case e.Kind == call.EntryDecision && len(r.decided) < mostDecided:
		r.decided[e.CallID] = verdict{e.Decision, e.DecidedBy}
	case e.Kind == call.EntryCall && ok:
		e.Decision, e.DecidedBy = v.said, v.by
		delete(r.decided, e.CallID)
	}
}

// await waits for room, with the lock held before and after, and reports whether there is some.
func (r *Recorder) await() bool {
	late := time.NewTimer(roomWait)
	defer late.Stop()
	for len(r.waiting) >= mostWaiting && !r.closed {
		if r.stuck {
			return false
		}
		if r.room == nil {
			r.room = make(chan struct{})
		}
		room := r.room
		r.mu.Unlock()
		select {
		case <-room:
			r.mu.Lock()
		case <-late.C:
			r.mu.Lock()
			if r.room == room {
				r.stuck = true
				r.log.Error().Int("waiting", len(r.waiting)).Msg("entries of the audit log are lost: the disk does " +
					"not take them fast enough")
			}
		}
	}
	return true
}

// signal puts an item into a channel that has room for one.
func (*Recorder) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Flush returns once everything that was taken before is written down, or given up. When the database cannot be written
// it returns *UnwrittenError.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	f := flush{r.taken, make(chan error, 1)}
	if r.written >= f.until {
		r.mu.Unlock()
		return nil
	}
	r.flushes = append(r.flushes, f)
	r.mu.Unlock()
	r.signal(r.hurry)
	select {
	case err := <-f.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// UnwrittenError says that entries wait for a database that cannot be written.
type UnwrittenError struct {
	Entries int
	Cause   error
}

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("%d entries are not written down yet: %v", e.Entries, e.Cause)
}

func (e *UnwrittenError) Unwrap() error { return e.Cause }

// Close writes what is waiting, for as long as ctx lives. What comes later is lost. It may be called more than once.
func (r *Recorder) Close(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.signal(r.wake)
	r.signal(r.hurry)
	defer context.AfterFunc(ctx, r.stop)()
	<-r.done
}

// run writes whenever there is something, batch after batch.
func (r *Recorder) run(ctx context.Context) {
	defer close(r.done)
	defer r.stop()
	defer r.at.close() // nothing is lost with it: each note is written at once
	for closed := false; !closed; {
		<-r.wake
		r.note(0)
		r.gather()
		var batch []pending
		var lost int
		for {
			if batch, lost, closed = r.next(); len(batch) == 0 && lost == 0 {
				break
			}
			failed := r.write(ctx, batch, lost)
			r.settle(len(batch))
			if failed != nil {
				r.giveUp(failed, len(batch))
				return
			}
			if !closed && !r.urgent() {
				break // what came meanwhile has woken run, and gathers more
			}
		}
	}
}

// gather waits for more to write, so that calls that follow each other share the price of a commit.
func (r *Recorder) gather() {
	enough := time.NewTimer(batchDelay)
	defer enough.Stop()
	select {
	case <-enough.C:
	case <-r.hurry:
	}
}

// next takes what is waiting, as much as fits into a batch.
func (r *Recorder) next() (batch []pending, lost int, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), together)
	batch = append(batch, r.waiting[:n]...)
	clear(r.waiting[:n])
	if r.waiting = r.waiting[n:]; len(r.waiting) == 0 {
		r.waiting = nil
	}
	lost, r.lost = r.lost, 0
	if len(r.waiting) < mostWaiting {
		r.stuck = false
		if r.room != nil {
			close(r.room)
			r.room = nil
		}
	}
	return batch, lost, r.closed
}

// write writes a batch. What cannot be written is tried again until it can, or until ctx ends.
func (r *Recorder) write(ctx context.Context, batch []pending, lost int) error {
	rows := make([]Row, 0, len(batch)+1)
	for i := range batch {
		rows = append(rows, RowOf(&batch[i].entry, batch[i].digest, batch[i].cut))
	}
	if lost > 0 {
		r.log.Error().Int("entries", lost).Msg("entries of the audit log were lost, because more came than the disk " +
			"took")
		rows = append(rows, Row{
			At: time.UnixMicro(time.Now().UnixMicro()).UTC(), Kind: KindGap, DecidedBy: "relay",
			Detail: fmt.Sprintf("%d entries were lost, because they came faster than the disk could write", lost),
		})
	}
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		r.note(len(rows))
		err := r.keeper.AppendAudit(ctx, rows)
		if err == nil {
			r.last = rows[len(rows)-1].N
			r.note(0)
			r.wrote()
			return nil
		}
		r.log.Error().Err(err).Int("entries", len(batch)).Msg("the audit log was not written; it is tried again")
		r.refuse(err)
		if !r.retryAfter(ctx, wait, len(rows)) {
			return err
		}
	}
}

// refuse tells those who wait for a flush that there is none for now.
func (r *Recorder) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failing = true
	for _, f := range r.flushes {
		f.done <- &UnwrittenError{int(r.taken - r.written), err}
	}
	r.flushes = nil
}

// Failing reports whether the database could not be written when that was tried last.
func (r *Recorder) Failing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failing
}

// urgent reports whether what is waiting is to be written without waiting for more.
func (r *Recorder) urgent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) >= together || r.lost > 0 || len(r.flushes) > 0 || r.closed
}

// flushing reports whether somebody waits for a flush.
func (r *Recorder) flushing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.flushes) > 0
}

// retryAfter waits before a batch is written again, and notes meanwhile how many entries came to wait behind it. Who
// waits for a flush is told at once whether it can be. It reports false when ctx has ended.
func (r *Recorder) retryAfter(ctx context.Context, wait time.Duration, batch int) bool {
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			return true
		case <-r.wake: // run looks for entries after this batch in any case
			r.note(batch)
		case <-r.hurry:
			if r.flushing() {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// note has the position say what was written, and that a batch and whatever else came is not.
func (r *Recorder) note(batch int) {
	r.mu.Lock()
	waiting := len(r.waiting) + r.lost
	r.mu.Unlock()
	if err := r.at.note(r.last, batch+waiting); err != nil {
		r.log.Error().Err(err).Msg("a relay that is killed now leaves no trace of the entries it did not write")
	}
}

// settle tells those who wait for what was written by now.
func (r *Recorder) settle(written int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written += uint64(written)
	r.failing = false
	kept := r.flushes[:0]
	for _, f := range r.flushes {
		if r.written >= f.until {
			close(f.done)
		} else {
			kept = append(kept, f)
		}
	}
	r.flushes = kept
}

// giveUp ends with entries that nobody could write.
func (r *Recorder) giveUp(err error, more int) {
	r.mu.Lock()
	left := len(r.waiting)
	r.waiting = nil
	r.closed = true
	r.mu.Unlock()
	r.settle(left)
	r.log.Error().Err(err).Int("entries", left+more).Msg("the relay ends, and entries of the audit log were not " +
		"written")
}

package auditexport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/receiver"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

const (
	// batch is how many rows are sent together at the most.
	batch = 200
	// sendTime is how long a receiver may take for them.
	sendTime = 30 * time.Second
	// longestPause is how long a receiver that fails is left alone at the most.
	longestPause = 5 * time.Minute
	// longestAsked is how long one is left alone at the most that asks for it (Retry-After).
	longestAsked = time.Hour
	// mostWhy is how many bytes are told of why a receiver takes nothing.
	mostWhy = 400
)

// sender is one receiver. What it gets is accepted when there is no error, and otherwise sent again, unless the error
// is a [*receiver.Refusal].
type sender interface {
	send(ctx context.Context, rows []audit.Row) error
}

// feed is one receiver with how far it has the log.
type feed struct {
	name    string
	to      sender
	export  *export
	wake    chan struct{} // has room for one
	pause   backoff.BackOff
	log     *store.AuditReader // open while it runs, once something was read
	through atomic.Int64
	failure atomic.Pointer[string] // why it took nothing last; nil: it did
	lost    atomic.Pointer[loss]   // what it will never have; nil: nothing
}

// loss is what a receiver will never have.
type loss struct {
	entries int64
	why     string // of the last of them
}

// export is all receivers of one relay.
type export struct {
	core  capability.Core
	log   zerolog.Logger
	feeds []*feed
	sent  *prometheus.CounterVec
	fails *prometheus.CounterVec
	gone  *prometheus.CounterVec
	once  sync.Once
	ctx   context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup
	quiet func() // ends the news of what was recorded
}

func attach(core capability.Core) capability.Attachment {
	x := newExport(core)
	return capability.Attachment{
		Configured: func(c config.Config) { x.once.Do(func() { x.start(section.Of(c)) }) },
		Meters:     []prometheus.Collector{x.sent, x.fails, x.gone}, Lacks: x.lacks, Close: x.close,
	}
}

func newExport(core capability.Core) *export {
	x := &export{core: core, log: core.Log(name), quiet: func() {}}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"receiver"})
	}
	x.sent = counter("tabrelay_audit_exported_total", "Entries of the audit log that a receiver took.")
	x.fails = counter("tabrelay_audit_export_failures_total", "Attempts to send it entries that failed.")
	x.gone = counter("tabrelay_audit_export_lost_total", "Entries of the audit log that a receiver will never have.")
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

// sendersOf are the receivers that are set, by name.
func sendersOf(s settings, host source) map[string]sender {
	client := receiver.Client(sendTime)
	set := map[string]sender{}
	if s.Syslog != "" {
		set["syslog"] = &syslog{address: s.Syslog, source: host}
	}
	if s.OTLP != "" {
		set["otlp"] = &otlp{url: s.OTLP, token: s.OTLPToken, client: client, source: host}
	}
	if s.Webhook != "" {
		set["webhook"] = &webhook{url: s.Webhook, secret: s.WebhookToken, client: client, source: host}
	}
	return set
}

// start begins to send to the receivers that are set.
func (x *export) start(s settings) {
	for name, to := range sendersOf(s, source{version: x.core.Version, arguments: s.Arguments}) {
		pause := backoff.NewExponentialBackOff()
		pause.InitialInterval, pause.MaxInterval = time.Second, longestPause
		x.feeds = append(x.feeds, &feed{name: name, to: to, export: x, wake: make(chan struct{}, 1), pause: pause})
	}
	if len(x.feeds) == 0 {
		return
	}
	x.quiet = x.core.OnRecorded(func() {
		for _, f := range x.feeds {
			select {
			case f.wake <- struct{}{}:
			default: // it is awake
			}
		}
	})
	for _, f := range x.feeds {
		x.ended.Go(func() { f.run(x.ctx) })
	}
}

func (x *export) close() {
	x.quiet()
	x.stop()
	x.ended.Wait()
}

// lacks says which receivers take nothing, and how much waits for them.
func (x *export) lacks() (list []doctor.Lack) {
	for _, f := range x.feeds {
		if lost := f.lost.Load(); lost != nil {
			list = append(list, doctor.Lack{ID: findingLost,
				What: fmt.Sprintf("%s does not have %s of the audit log: %s", f.name, entries(lost.entries), lost.why)})
		}
		why := f.failure.Load()
		if why == nil {
			continue
		}
		what := fmt.Sprintf("The audit log is not sent to %s: %s", f.name, *why)
		if head, err := x.core.Store.AuditHead(x.ctx); err == nil {
			what += fmt.Sprintf("; %s wait", entries(head.N-f.through.Load()))
		}
		list = append(list, doctor.Lack{ID: findingFailing, What: what})
	}
	return list
}

// run sends what the receiver does not have, until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.closeLog()
	for ctx.Err() == nil {
		n, err := f.forward(ctx)
		var pause <-chan time.Time
		switch {
		case err != nil && ctx.Err() == nil:
			f.fail(err)
			pause = time.After(f.wait(err))
		case n == batch:
			continue
		}
		wake := f.wake
		if pause != nil {
			wake = nil // it is left alone, whatever is recorded
		}
		select {
		case <-ctx.Done():
		case <-pause:
		case <-wake:
		}
	}
}

// wait is how long a receiver that failed is left alone.
func (f *feed) wait(err error) time.Duration {
	next := f.pause.NextBackOff()
	if asked, ok := errors.AsType[*receiver.Pausing](err); ok {
		next = max(next, min(asked.After, longestAsked))
	}
	return next
}

// forward sends one batch and notes it.
func (f *feed) forward(ctx context.Context) (n int, err error) {
	if f.through.Load() == 0 {
		if err := f.recall(ctx); err != nil {
			return 0, err
		}
	}
	rows, err := f.next(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	if before := f.through.Load(); before > 0 && rows[0].N > before+1 {
		f.lose(rows[0].N-before-1, fmt.Sprintf("%d to %d were removed before it took them", before+1, rows[0].N-1))
		f.through.Store(rows[0].N - 1) // so that they are counted once, however often the rest is sent
		f.note()
	}
	t := &try{feed: f}
	err = t.send(ctx, rows)
	if t.taken == 0 && t.rejected == 0 { // a receiver that refuses everything is one that fails: nothing is given up
		return 0, cmp.Or(err, t.refused)
	}
	f.settle(t)
	return t.settled, err
}

// try is one batch on its way to a receiver, in order.
type try struct {
	feed     *feed
	settled  int   // rows from the beginning that were accepted or refused for good
	through  int64 // the last of these
	taken    int
	rejected int // of which the receiver said only how many
	alone    []int64
	refused  error // the last refusal
}

// send sends rows, and halves of what is refused until it is known which rows those are.
func (t *try) send(ctx context.Context, rows []audit.Row) error {
	limited, end := context.WithTimeout(ctx, sendTime)
	err := t.feed.to.send(limited, rows)
	end()
	no, refused := errors.AsType[*receiver.Refusal](err)
	switch {
	case refused && no.Count == 0 && len(rows) > 1:
		half := len(rows) / 2
		if err := t.send(ctx, rows[:half]); err != nil {
			return err
		}
		return t.send(ctx, rows[half:])
	case refused && no.Count == 0:
		t.alone, t.refused = append(t.alone, rows[0].N), err
	case refused:
		t.rejected += no.Count
		t.taken += max(0, len(rows)-no.Count)
		t.refused = err
	case err != nil:
		return err
	default:
		t.taken += len(rows)
	}
	t.settled += len(rows)
	t.through = rows[len(rows)-1].N
	return nil
}

// settle notes how far the receiver has the log, and what of that it refused.
func (f *feed) settle(t *try) {
	if t.refused != nil {
		which := fmt.Sprintf("some up to entry %d", t.through)
		if t.rejected == 0 {
			which = fmt.Sprintf("entry %d", t.alone[len(t.alone)-1])
		}
		f.lose(int64(len(t.alone)+t.rejected), fmt.Sprintf("%s: %s", which, t.refused))
	}
	f.through.Store(t.through)
	f.note()
	f.export.sent.WithLabelValues(f.name).Add(float64(t.taken))
	f.pause.Reset()
	if f.failure.Swap(nil) != nil {
		f.export.log.Info().Str("receiver", f.name).Msg("the audit log is sent again")
	}
}

// lose says what the receiver will never have.
func (f *feed) lose(n int64, why string) {
	lost := loss{n, why}
	if before := f.lost.Load(); before != nil {
		lost.entries += before.entries
	}
	f.lost.Store(&lost)
	f.export.gone.WithLabelValues(f.name).Add(float64(n))
	f.export.log.Error().Str("receiver", f.name).Int64("entries", n).Str("why", why).
		Msg("a receiver will never have some of the audit log; the log itself still has what was not removed")
}

func (f *feed) note() {
	lost := loss{}
	if known := f.lost.Load(); known != nil {
		lost = *known
	}
	through := f.through.Load()
	f.export.core.Store.Later(
		"what a receiver of the audit log has could not be noted; it gets it again after a restart",
		func(tx store.Tx) error {
			return tx.Exec(`INSERT OR REPLACE INTO audit_exported (receiver, through, lost, why) VALUES (?, ?, ?, ?)`,
				f.name, through, lost.entries, lost.why)
		})
}

// recall reads how far the receiver has the log, and what it does not have of that.
func (f *feed) recall(ctx context.Context) error {
	type known struct {
		through int64
		loss
	}
	was, err := store.Read(ctx, f.export.core.Store, func(tx store.Tx) (k known, err error) {
		err = tx.Row(`SELECT coalesce(max(through), 0), coalesce(max(lost), 0), coalesce(max(why), '')
			FROM audit_exported WHERE receiver = ?`, []any{f.name}, &k.through, &k.entries, &k.why)
		return k, err
	})
	f.through.Store(was.through)
	if was.entries > 0 {
		f.lost.Store(&was.loss)
	}
	return err
}

// next are the rows that follow.
func (f *feed) next(ctx context.Context) (rows []audit.Row, err error) {
	if f.log == nil {
		if f.log, err = store.OpenAudit(ctx, string(f.export.core.Home.Database())); err != nil {
			return nil, err
		}
	}
	err = f.log.Each(ctx, audit.Filter{After: f.through.Load(), Oldest: true, Limit: batch}, func(r *audit.Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		f.closeLog() // the next time it is opened anew
	}
	return rows, err
}

func (f *feed) closeLog() {
	if f.log == nil {
		return
	}
	if err := f.log.Close(); err != nil {
		f.export.log.Warn().Str("receiver", f.name).Err(err).Msg("the audit log could not be closed after reading")
	}
	f.log = nil
}

func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func (f *feed) fail(err error) {
	why := clip.Bytes(fault.Sanitize(err.Error()), mostWhy) // some of it may be what the receiver said
	f.export.fails.WithLabelValues(f.name).Inc()
	if before := f.failure.Swap(&why); before == nil || *before != why {
		f.export.log.Warn().Str("receiver", f.name).Str("error", why).
			Msg("the audit log is not sent; it is tried again, and calls go on")
	}
}

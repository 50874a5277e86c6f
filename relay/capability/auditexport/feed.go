package auditexport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
	"tabrelay/relay/program/doctor"
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
)

// sender is one receiver. What it gets is accepted when there is no error, and otherwise sent again.
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
	through atomic.Int64
	failure atomic.Pointer[string] // why it took nothing last; nil: it did
}

// export is all receivers of one relay.
type export struct {
	core  capability.Core
	log   zerolog.Logger
	feeds []*feed
	sent  *prometheus.CounterVec
	fails *prometheus.CounterVec
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
		Meters:     []prometheus.Collector{x.sent, x.fails}, Lacks: x.lacks, Close: x.close,
	}
}

func newExport(core capability.Core) *export {
	x := &export{core: core, log: core.Log(name), quiet: func() {}}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"receiver"})
	}
	x.sent = counter("tabrelay_audit_exported_total", "Entries of the audit log that a receiver took.")
	x.fails = counter("tabrelay_audit_export_failures_total", "Attempts to send it entries that failed.")
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

// start begins to send to the receivers that are set.
func (x *export) start(s settings) {
	client := &http.Client{Timeout: sendTime, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // what is sent is for nobody else
	}}
	host := source{version: x.core.Version, arguments: s.Arguments}
	for name, to := range map[string]sender{
		"syslog":  &syslog{address: s.Syslog, source: host},
		"otlp":    &otlp{url: s.OTLP, token: s.OTLPToken, client: client, source: host},
		"webhook": &webhook{url: s.Webhook, secret: s.WebhookToken, client: client, source: host},
	} {
		if set := map[string]string{"syslog": s.Syslog, "otlp": s.OTLP, "webhook": s.Webhook}; set[name] != "" {
			pause := backoff.NewExponentialBackOff()
			pause.InitialInterval, pause.MaxInterval = time.Second, longestPause
			x.feeds = append(x.feeds, &feed{name: name, to: to, export: x, wake: make(chan struct{}, 1), pause: pause})
		}
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
		why := f.failure.Load()
		if why == nil {
			continue
		}
		what := fmt.Sprintf("The audit log is not sent to %s: %s", f.name, *why)
		if head, err := x.core.Store.AuditHead(x.ctx); err == nil {
			what += fmt.Sprintf("; %d entries wait", head.N-f.through.Load())
		}
		list = append(list, doctor.Lack{ID: findingFailing, What: what})
	}
	return list
}

// run sends what the receiver does not have, until ctx ends.
func (f *feed) run(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := f.forward(ctx)
		var pause <-chan time.Time
		switch {
		case err != nil && ctx.Err() == nil:
			f.fail(err)
			pause = time.After(f.pause.NextBackOff())
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

// forward sends one batch and notes it.
func (f *feed) forward(ctx context.Context) (n int, err error) {
	x := f.export
	if f.through.Load() == 0 {
		if err := f.recall(ctx); err != nil {
			return 0, err
		}
	}
	rows, err := f.next(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	limited, end := context.WithTimeout(ctx, sendTime)
	defer end()
	if err := f.to.send(limited, rows); err != nil {
		return 0, err
	}
	through := rows[len(rows)-1].N
	f.through.Store(through)
	x.core.Store.Later("what a receiver of the audit log has could not be noted; it gets it again after a restart",
		func(tx store.Tx) error {
			return tx.Exec(`INSERT OR REPLACE INTO audit_exported VALUES (?, ?)`, f.name, through)
		})
	x.sent.WithLabelValues(f.name).Add(float64(len(rows)))
	f.pause.Reset()
	if f.failure.Swap(nil) != nil {
		x.log.Info().Str("receiver", f.name).Msg("the audit log is sent again")
	}
	return len(rows), nil
}

// recall reads how far the receiver has the log.
func (f *feed) recall(ctx context.Context) error {
	through, err := store.Read(ctx, f.export.core.Store, func(tx store.Tx) (through int64, err error) {
		err = tx.Row(`SELECT coalesce(max(through), 0) FROM audit_exported WHERE receiver = ?`, []any{f.name}, &through)
		return through, err
	})
	f.through.Store(through)
	return err
}

// next are the rows that follow.
func (f *feed) next(ctx context.Context) (rows []audit.Row, err error) {
	log, err := store.OpenAudit(ctx, string(f.export.core.Home.Database()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	err = log.Each(ctx, audit.Filter{After: f.through.Load(), Oldest: true, Limit: batch}, func(r *audit.Row) error {
		rows = append(rows, *r)
		return nil
	})
	return rows, err
}

func (f *feed) fail(err error) {
	why := err.Error()
	f.export.fails.WithLabelValues(f.name).Inc()
	if before := f.failure.Swap(&why); before == nil || *before != why {
		f.export.log.Warn().Str("receiver", f.name).Err(err).
			Msg("the audit log is not sent; it is tried again, and calls go on")
	}
}

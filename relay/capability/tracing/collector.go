package tracing

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"tabrelay/relay/capability"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/receiver"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

const (
	// mostWaiting is how many calls wait to be sent at the most; the spans of one more are lost.
	mostWaiting = 2048
	// batch is how many calls are sent together at the most.
	batch = 256
	// gather is how long a call waits for others, so that they are sent together.
	gather = time.Second
	// sendTime is how long the collector may take for one request, and longest how long a batch is tried.
	sendTime = 10 * time.Second
	longest  = time.Minute
	// closeTime is how long the end of the relay waits for what is still to be sent.
	closeTime = 2 * time.Second
	// mostWhy is how many bytes are told of why the collector takes nothing.
	mostWhy = 400
)

// collector sends the spans of calls to the one that is set.
type collector struct {
	core    capability.Core
	log     zerolog.Logger
	client  *http.Client
	set     atomic.Pointer[Settings] // nil: nothing is traced
	waiting chan []*traces.Span
	failure atomic.Pointer[string] // why it took nothing last; nil: it did
	sent    prometheus.Counter
	lost    prometheus.Counter
	start   sync.Once
	ended   sync.WaitGroup
	ctx     context.Context
	stop    context.CancelFunc
	closing chan struct{}
}

func attach(core capability.Core) capability.Attachment {
	c := newCollector(core)
	return capability.Attachment{
		Configured: c.configure, Meters: []prometheus.Collector{c.sent, c.lost}, Watch: c.watch, Lacks: c.lacks,
		Close: c.close,
	}
}

func newCollector(core capability.Core) *collector {
	c := &collector{core: core, log: core.Log(name), client: receiver.Client(sendTime),
		waiting: make(chan []*traces.Span, mostWaiting), closing: make(chan struct{})}
	c.sent = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tabrelay_spans_sent_total", Help: "Spans of calls that the collector of traces took."})
	c.lost = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tabrelay_spans_lost_total", Help: "Spans of calls that the collector of traces will never have."})
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// configure takes the settings, also of a reload.
func (c *collector) configure(all config.Config) {
	s := Section.Of(all)
	if s.URL == "" {
		c.set.Store(nil)
		c.failure.Store(nil)
		return
	}
	c.set.Store(&s)
	c.start.Do(func() { c.ended.Go(c.run) })
}

// watch notes the steps of a call, unless its client says that its trace is not sampled. A call of no trace begins one.
func (c *collector) watch(of *call.Call) func(call.Trace, *fault.Error) {
	if c.set.Load() == nil || of.Trace.ID != "" && !of.Trace.Sampled() {
		return func(call.Trace, *fault.Error) {}
	}
	if of.Trace.ID == "" {
		of.Trace = call.NewTrace(random.Hex(16))
	}
	w := &watched{call: *of, began: time.Now()}
	also := of.Step
	of.Step = func(at time.Time, name, what string) {
		w.passed(at, name, what)
		if also != nil {
			also(at, name, what)
		}
	}
	return func(at call.Trace, failure *fault.Error) { c.add(w.spans(at, failure, time.Now())) }
}

// add has the spans of a call sent, and never waits.
func (c *collector) add(spans []*traces.Span) {
	select {
	case c.waiting <- spans:
	default:
		c.lost.Add(float64(len(spans)))
	}
}

// run sends what waits, until the relay ends.
func (c *collector) run() {
	for {
		select {
		case first := <-c.waiting:
			c.send(c.gathered(first))
		case <-c.closing:
			for len(c.waiting) > 0 && c.ctx.Err() == nil {
				c.send(c.gathered(<-c.waiting))
			}
			return
		}
	}
}

// gathered is what is sent together with the spans of one call.
func (c *collector) gathered(spans []*traces.Span) []*traces.Span {
	full := time.NewTimer(gather)
	defer full.Stop()
	for range batch - 1 {
		select {
		case more := <-c.waiting:
			spans = append(spans, more...)
		case <-full.C:
			return spans
		case <-c.closing:
			return spans
		}
	}
	return spans
}

// send sends spans, again where the collector may take them then.
func (c *collector) send(spans []*traces.Span) {
	set := c.set.Load()
	if set == nil { // switched off meanwhile
		c.lost.Add(float64(len(spans)))
		return
	}
	body, err := proto.Marshal(c.data(spans))
	if err == nil {
		_, err = backoff.Retry(c.ctx, func() (struct{}, error) { return struct{}{}, c.post(*set, body) },
			backoff.WithMaxElapsedTime(longest))
	}
	if err == nil {
		c.sent.Add(float64(len(spans)))
		c.failure.Store(nil)
		return
	}
	c.lost.Add(float64(len(spans)))
	why := clip.Bytes(fault.Sanitize(err.Error()), mostWhy)
	if was := c.failure.Swap(&why); was == nil || *was != why {
		c.log.Warn().Str("why", why).Msg("the collector of traces takes nothing")
	}
}

// post sends a request. Its error is final where sending it again does not help.
func (c *collector) post(set Settings, body []byte) error {
	header := http.Header{"Content-Type": {"application/x-protobuf"}}
	if set.Token != (config.KeySource{}) {
		token, err := set.Token.Read()
		if err != nil {
			return backoff.Permanent(err)
		}
		header.Set("Authorization", "Bearer "+token)
	}
	_, err := receiver.Post(c.ctx, c.client, set.URL, body, header)
	if _, refused := errors.AsType[*receiver.Refusal](err); refused {
		return backoff.Permanent(err)
	}
	if asked, ok := errors.AsType[*receiver.Pausing](err); ok && asked.After > 0 && asked.After <= longest {
		return errors.Join(err, backoff.RetryAfter(int(asked.After.Seconds())))
	}
	return err
}

// data has the encoding of ExportTraceServiceRequest, whose package would bring gRPC.
func (c *collector) data(spans []*traces.Span) *traces.TracesData {
	return &traces.TracesData{ResourceSpans: []*traces.ResourceSpans{{
		Resource:   receiver.Resource(c.core.Version),
		ScopeSpans: []*traces.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "tabrelay/calls"}, Spans: spans}},
	}}}
}

// lacks says that the collector takes nothing.
func (c *collector) lacks() []doctor.Lack {
	why := c.failure.Load()
	if why == nil {
		return nil
	}
	return []doctor.Lack{{ID: findingFailing, What: "Traces are not sent: " + *why}}
}

// close sends what waits, and gives up what the collector does not take soon.
func (c *collector) close() {
	end := time.AfterFunc(closeTime, c.stop)
	close(c.closing)
	c.ended.Wait()
	end.Stop()
	c.stop()
}

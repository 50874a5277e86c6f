package join

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/road/fault"
)

const (
	minRetryInterval = time.Second // between any two attempts to reach a relay: each may start a process
	maxRetryInterval = 30 * time.Second
)

// exitBadConfig is the exit code of a relay that cannot start until its configuration, or a file of its, is repaired.
const exitBadConfig = 2

// ErrForcedMinimal is why no relay is used when the environment says so.
var ErrForcedMinimal error = &StartError{Text: "error: TABRELAY_FORCE_MINIMAL is set\n" +
	"hint: remove TABRELAY_FORCE_MINIMAL from the environment of tabrelay mcp"}

// outage is a time without a relay.
type outage struct {
	*Proxy
	cause     error
	tried     time.Time     // the last attempt to reach a relay
	pause     time.Duration // until the next attempt that nothing else caused
	retryOnce bool          // something changed after the start under way had begun
}

// serveOffline answers the client while there is no relay, until one is attached, the client has closed its end, or ctx
// is done; in the last two cases it returns no attachment. An error is that of the client's end.
//
// A relay is tried again when the client sends what only a relay can do, when a relay writes relay.json, when
// configuration or secrets change, and when a slow start ends. If the cause is transient, it is also tried after
// growing pauses, since a start costs two processes.
func (p *Proxy) serveOffline(ctx context.Context, wake <-chan struct{}, cause error) (*attachment, error) {
	p.lost = false
	p.Log.Error().Err(cause).Msg("no relay can be reached; the client is answered in minimal mode")
	if err := p.failRequests(p.requests.removePending(), cause, fault.Unknown); err != nil {
		return nil, err
	}
	o := &outage{Proxy: p, cause: cause, tried: time.Now(), pause: minRetryInterval}
	if errors.Is(cause, errRelayStopped) {
		o.tried = time.Time{} // nothing was tried
	}
	changes, stop := p.watchHome()
	defer stop()
	for {
		closed := p.isInputClosed() // read first, so that what the client sent before it closed is answered
		next, err := o.answerBuffered(ctx)
		if err != nil || next != nil || closed || p.requests.hasExited() {
			return next, err
		}
		select {
		case <-wake:
			continue
		case <-ctx.Done():
			return nil, nil
		case <-p.startDone():
		case <-o.retryTimer():
			o.retryOnce, o.pause = false, min(2*o.pause, maxRetryInterval)
		case event := <-changes:
			if !p.mayFix(event, o.cause) {
				continue
			}
			if p.starting != nil && event.Name != p.Home.State() {
				o.retryOnce = true
				continue
			}
			// A relay that refuses this client may have ended since, because the person stopped it.
			_, p.joinOnly = errors.AsType[*Refused](o.cause)
		}
		if next := o.retry(ctx); next != nil {
			return next, nil
		}
	}
}

// answerBuffered answers what the client has sent. It returns an attachment if a request needed a relay and there is
// one.
func (o *outage) answerBuffered(ctx context.Context) (*attachment, error) {
	for text, ok := o.firstBuffered(); ok; text, ok = o.firstBuffered() {
		m := parseRequest(text)
		if o.offline.needsRelay(m) && o.starting == nil && time.Since(o.tried) >= minRetryInterval {
			if next := o.retry(ctx); next != nil {
				return next, nil
			}
		}
		o.dropFirstBuffered()
		if err := o.answerOffline(text, m, o.cause); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// retry tries to attach to a relay; it returns nil if that fails again.
func (o *outage) retry(ctx context.Context) *attachment {
	next, err := o.reconnect(ctx)
	o.joinOnly = false
	if err != nil && !errors.Is(err, errNoneRuns) {
		o.cause, o.tried = err, time.Now()
	}
	return next
}

// retryTimer fires when a relay is to be tried without any other reason; nil: never.
func (o *outage) retryTimer() <-chan time.Time {
	if o.starting != nil || !o.retryOnce && !o.isTransient(o.cause) {
		return nil
	}
	return time.After(time.Until(o.tried.Add(o.pause)))
}

// isTransient reports whether a cause may end by itself: no person has decided it or has to repair something.
func (p *Proxy) isTransient(cause error) bool {
	_, refused := errors.AsType[*Refused](cause)
	if _, away := errors.AsType[*unreachable](cause); away {
		return p.Disabled == nil
	}
	failed, hasFailed := errors.AsType[*StartError](cause)
	switch {
	case p.Disabled != nil, errors.Is(cause, errRelayStopped), refused:
		return false
	case hasFailed:
		return failed.Exit != exitBadConfig
	}
	return fault.HintOf(cause) == "" // with a next step: a configuration that was read here
}

// answerOffline answers one message without a relay, and records it for the next one if it changes the conversation.
func (p *Proxy) answerOffline(text []byte, m offlineRequest, cause error) error {
	why := reasonOf(cause, string(p.Home))
	var reply []byte
	if p.offline.wasPromised(m) {
		// A relay promised this client tools: their failure is one of a tool, not of the protocol.
		reply = failedReply(clientMessage{id: string(m.id), method: m.method}, cause, fault.NotExecuted)
	} else {
		reply = p.offline.answer(m, why)
	}
	switch m.method {
	case "initialize", "logging/setLevel", "notifications/initialized", "shutdown", "exit":
		p.requests.recordSent(text, 0)
		p.requests.recordReply(reply)
	}
	if err := p.print(reply); err != nil {
		return err
	}
	if m.method == "notifications/initialized" && p.offline.initializedHere {
		return p.print(p.offline.log("error", "tabrelay offers no tools: "+why.text+". "+why.next))
	}
	return nil
}

// announceRecovery tells a client that was promised no tools that there are some now. Clients that read capabilities
// only from the reply to initialize have to reconnect.
func (p *Proxy) announceRecovery() error {
	if !p.offline.initializedHere || p.offline.shutdown {
		return nil
	}
	p.offline.initializedHere = false
	if err := p.print(p.offline.log("notice", "tabrelay works again. "+
		"If no tools are listed, reconnect this server in the client, or restart the client.")); err != nil {
		return err
	}
	return p.print(toolsChanged)
}

func (p *Proxy) firstBuffered() (text []byte, ok bool) {
	p.sending.Lock()
	defer p.sending.Unlock()
	if len(p.buffered) == 0 {
		return nil, false
	}
	return p.buffered[0], true
}

func (p *Proxy) dropFirstBuffered() {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.buffered = p.buffered[1:]
}

// watchHome reports changes in the home folder. Where it cannot be watched, only requests of the client and timers
// retry.
func (p *Proxy) watchHome() (changes <-chan fsnotify.Event, stop func()) {
	if p.Disabled != nil || p.Remote != nil {
		return nil, func() {}
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	if err := watcher.Add(string(p.Home)); err != nil {
		p.Log.Debug().Err(err).Msg("the home folder cannot be watched")
	}
	go func() {
		for range watcher.Errors { // until it is closed; the client's next request makes up for a missed change
		}
	}()
	return watcher.Events, func() { _ = watcher.Close() } // nothing was written
}

// mayFix reports whether a change may have ended the cause. A relay that a person stopped is not started because they
// edit a file.
func (p *Proxy) mayFix(e fsnotify.Event, cause error) bool {
	if p.Disabled != nil || e.Op == fsnotify.Chmod && e.Name != p.Home.Secrets() {
		return false
	}
	switch e.Name {
	case p.Home.State():
		return !e.Has(fsnotify.Remove)
	case p.Home.Config(), p.Home.Secrets(), p.Home.Database():
		return !errors.Is(cause, errRelayStopped)
	}
	return false
}

// failRequests answers requests that no relay will answer. An error is that of the client's end.
func (p *Proxy) failRequests(requests []clientMessage, cause error, outcome fault.Outcome) error {
	for _, m := range requests {
		if err := p.print(failedReply(m, cause, outcome)); err != nil {
			return err
		}
	}
	return nil
}

// failedReply is the reply to a request that no relay will answer: a failed result for a tool call, because models read
// results, and a JSON-RPC error for anything else.
func failedReply(m clientMessage, cause error, outcome fault.Outcome) []byte {
	failure := failureOf(cause, outcome)
	if m.method != "tools/call" {
		return errorReply(json.RawMessage(m.id), failure.RPC(), failure)
	}
	var content []map[string]string
	for _, text := range failure.Text() {
		content = append(content, map[string]string{"type": "text", "text": text})
	}
	return resultReply(json.RawMessage(m.id), map[string]any{
		"content": content, "isError": true, "_meta": map[string]any{"tabrelay/error": failure},
	})
}

// failureOf is why a request has no answer. A relay that no longer knows the client has said so itself.
func failureOf(cause error, outcome fault.Outcome) *fault.Error {
	hint := nextStep(cause)
	if outcome == fault.Unknown {
		hint += "\nread the page before repeating the action."
	}
	if refused, ok := errors.AsType[*Refused](cause); ok && refused.Code == string(fault.Unauthorized) {
		return fault.New(fault.Unauthorized, fault.Sanitize(refused.Message),
			fault.WithOutcome(outcome), fault.WithHint(hint))
	}
	return fault.New(fault.ExtensionLost, "The relay ended, and no other one could be reached: "+
		fault.Sanitize(cause.Error()),
		fault.WithOutcome(outcome), fault.WithRetryable(outcome == fault.NotExecuted), fault.WithHint(hint))
}

// nextStep is what the person does about a relay that cannot be reached.
func nextStep(cause error) string {
	if errors.Is(cause, errRelayStopped) {
		return "Ask the person to run: tabrelay up"
	}
	if refused, ok := errors.AsType[*Refused](cause); ok && refused.Hint != "" {
		return refused.Hint
	}
	return cmp.Or(fault.HintOf(cause), "Ask the person to run: tabrelay doctor")
}

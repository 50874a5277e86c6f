package hubtest

import (
	"encoding/json"
	"sync"
	"time"

	"tabrelay/relay/browser/wire"
)

// Call is one call that the browser was given. It ends with Return, Throw or Refuse; the first counts.
type Call struct {
	wire.Call
	Arguments json.RawMessage

	browser   *Browser
	began     time.Time
	once      sync.Once
	cancelled chan struct{}
	reason    string
}

// Cancelled is closed when the relay cancels the call.
func (c *Call) Cancelled() <-chan struct{} { return c.cancelled }

// Reason is why it was cancelled; read it after Cancelled is closed.
func (c *Call) Reason() string { return c.reason }

func (c *Call) cancel(reason string) {
	c.once.Do(func() {
		c.reason = reason
		close(c.cancelled)
	})
}

// Started says that the handler is about to run.
func (c *Call) Started() {
	c.browser.Send(&wire.Started{ID: c.ID, DocumentID: "D0", Origin: "https://example.com"})
}

// Progress reports a step.
func (c *Call) Progress(progress float64, message string) {
	c.browser.Send(&wire.Progress{ID: c.ID, Progress: progress, Message: message})
}

// Log reports a line.
func (c *Call) Log(level, message string) {
	c.browser.Send(&wire.Log{ID: c.ID, Level: level, Message: message})
}

// Return ends the call with a value.
func (c *Call) Return(value json.RawMessage) {
	c.End(&wire.Outcome{Status: wire.Returned, Started: true, Origin: "https://example.com"}, value)
}

// Throw ends the call with what the handler threw.
func (c *Call) Throw(thrown json.RawMessage) {
	c.End(&wire.Outcome{Status: wire.Threw, Started: true, Error: thrown, Origin: "https://example.com"}, nil)
}

// Refuse ends the call in the name of the extension.
func (c *Call) Refuse(r wire.Refusal) {
	c.End(&wire.Outcome{Status: wire.Refused, Started: r.Outcome != "not_executed", Refusal: &r}, nil)
}

// End ends the call with an outcome of the caller's making; id, epoch and duration are filled in. The outcome is kept
// until the relay acknowledges it.
func (c *Call) End(o *wire.Outcome, payload json.RawMessage) {
	b := c.browser
	o.ID, o.Epoch, o.DurationMs = c.ID, b.opts.Epoch, time.Since(c.began).Milliseconds()
	frame := encode(o, payload)
	b.mu.Lock()
	delete(b.running, c.ID)
	if b.outcomes[c.ID] == nil {
		b.order = append(b.order, c.ID)
	}
	b.outcomes[c.ID] = frame
	socket := b.socket
	b.touch()
	b.mu.Unlock()
	if socket != nil {
		_ = socket.Write(frame)
	}
}

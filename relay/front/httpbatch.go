package front

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/rawjson"
)

// postBatch takes an array of messages within a session, and reports whether body was one.
func (f *Front) postBatch(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if !rawjson.IsArray(body) || r.Header.Get(mcp.HeaderSessionID) == "" {
		return false
	}
	if unknownVersion(w, r, nil) {
		return true
	}
	session := f.session(w, r, nil)
	if session == nil {
		return true
	}
	messages, fail := session.party.batch(body)
	switch {
	case fail != nil:
		_ = writeJSON(w, http.StatusBadRequest, refuse(nil, fail, false))
	case messages == nil:
		return false
	default:
		f.serveBatch(w, r, session, messages)
	}
	return true
}

// serveBatch carries out the messages at once, tool calls in their order.
func (f *Front) serveBatch(w http.ResponseWriter, r *http.Request, s *httpSession, messages []json.RawMessage) {
	out := &httpOutlet{w: w, streams: accepts(r, "text/event-stream")}
	b := newBatch(out)
	var work sync.WaitGroup
	answers := false
	for _, text := range messages {
		m, fail := parse(text)
		slot := b.slot()
		if fail == nil && (m.id == nil || m.reply) {
			f.noteLegacy(s, &m)
			slot.end()
			continue
		}
		answers = true
		if fail != nil {
			_ = slot.finish(refuse(m.id, fail, false))
			slot.end()
			continue
		}
		f.serveInBatch(r, s, &m, slot, &work)
	}
	b.end()
	work.Wait()
	s.touch()
	if answers {
		out.end()
	} else {
		w.WriteHeader(http.StatusAccepted)
	}
}

// serveInBatch starts one request of a batch: what it changes is changed when serveInBatch returns.
func (f *Front) serveInBatch(r *http.Request, s *httpSession, m *message, out *slot, work *sync.WaitGroup) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	x := &exchange{id: m.id, cancel: cancel, gone: r.Context().Done(), out: out}
	if !s.party.flights.add(x) {
		cancel(nil)
		_ = out.finish(taken(m.id))
		out.end()
		return
	}
	if out.asks() {
		x.beat(keepAlive)
	}
	rest := f.admit(ctx, &s.party, x, m)
	work.Go(func() {
		defer out.end()
		defer cancel(nil)
		defer s.party.flights.remove(x)
		rest()
		if out.asks() {
			x.stopBeat()
		}
	})
}

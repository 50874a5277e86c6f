package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/fault"
)

// PanelRequest is something that the side panel of a profile asks.
type PanelRequest struct {
	ProfileID string
	Method    string
	Path      string // with the query
	Body      []byte // nil when there is none
}

// PanelAnswer answers one request: a status as in HTTP, and a body that is one JSON value, or nil. It is called in a
// goroutine of its own, may be called concurrently, and should end when ctx does.
type PanelAnswer func(ctx context.Context, r PanelRequest) (status int, body json.RawMessage)

// panelRequests is how many requests of one profile's panels are worked on at once.
const panelRequests = 16

// ServePanels makes the hub pass on what side panels ask. Without it they are told that nobody answers.
func (h *Hub) ServePanels(answer PanelAnswer) { h.panels.Store(&answer) }

// TellPanels tells the connected browsers that speak of it that these topics changed; waiting is how many questions
// wait for the person at a profile. A browser that does not read misses the news: its panel asks again by itself.
func (h *Hub) TellPanels(topics []string, waiting func(profileID string) int) {
	topics = append([]string{}, topics...) // a list, never null
	for _, b := range h.all() {
		var c *conn
		b.peek(func(s *calls) { c = s.conn })
		if c == nil || c.protocol < wire.WithPanel {
			continue
		}
		c.queue.put(mustEncode(&wire.News{Topics: topics, Waiting: waiting(b.id)}), false)
	}
}

// maxPanels bounds how many open panels of a profile are counted.
const maxPanels = 1 << 16

// PanelsOpen reports whether a side panel is open in a connected profile: the person sees what it asks.
func (h *Hub) PanelsOpen() bool {
	for _, b := range h.all() {
		var c *conn
		b.peek(func(s *calls) { c = s.conn })
		if c != nil && c.panels.Load() > 0 {
			return true
		}
	}
	return false
}

// TellUserScripts notes that a profile has the extension's edition from a store, and which plugins Chrome does not run
// there before the person allows user scripts. It holds for as long as the connection.
func (h *Hub) TellUserScripts(profileID string, waiting []string) {
	if b := h.find(profileID); b != nil {
		b.peek(func(s *calls) {
			if s.conn != nil {
				s.conn.userScripts.Store(&waiting)
			}
		})
	}
}

// maxLabel is how many characters of a profile's name count.
const maxLabel = 64

// rename takes the name that the person gave the profile.
func (b *browser) rename(label string) {
	hello := *b.about.Load() // set before its connection runs
	if chars := []rune(fault.Sanitize(label)); len(chars) > 0 {
		hello.Profile.Label = string(chars[:min(len(chars), maxLabel)])
	}
	b.about.Store(&hello)
	b.hub.emit(Event{Kind: Renamed, ProfileID: b.id, Profile: b.label()})
}

// panelAsks takes one request of a panel. body is valid only until then.
func (c *conn) panelAsks(ctx context.Context, f *wire.Request, body []byte) {
	answer := c.b.hub.panels.Load()
	switch {
	case answer == nil:
		c.respond(f.ID, http.StatusServiceUnavailable,
			sorry(fault.New(fault.ShuttingDown, "The relay does not answer panels yet",
				fault.WithHint("Try again in a moment."))))
		return
	case len(body) > wire.MaxRequestBytes:
		c.respond(f.ID, http.StatusRequestEntityTooLarge, sorry(fault.New(fault.InputTooLarge,
			fmt.Sprintf("The body has %d bytes; at most %d are read", len(body), wire.MaxRequestBytes))))
		return
	}
	select {
	case c.asking <- struct{}{}:
	default:
		c.respond(f.ID, http.StatusTooManyRequests, sorry(fault.New(fault.Overloaded,
			fmt.Sprintf("The panel has %d requests under way already", panelRequests),
			fault.WithHint("Wait for them, then try again."))))
		return
	}
	r := PanelRequest{ProfileID: c.b.id, Method: f.Method, Path: f.Path, Body: bytes.Clone(body)}
	id := f.ID
	c.answering.Go(func() {
		defer func() { <-c.asking }()
		ctx, cancel := context.WithTimeout(ctx, wire.RequestTime)
		defer cancel()
		status, text := (*answer)(ctx, r)
		c.respond(id, status, text)
	})
}

// respond sends the answer to a request. One that cannot be sent is replaced by the reason.
func (c *conn) respond(id string, status int, body json.RawMessage) {
	if len(body) > wire.MaxResponseBytes {
		status, body = http.StatusInternalServerError, sorry(fault.New(fault.OutputTooLarge,
			fmt.Sprintf("The answer has %d bytes, more than the %d a panel is sent", len(body), wire.MaxResponseBytes),
			fault.WithHint("Ask for less: with filters or a smaller limit.")))
	}
	frame, err := wire.Encode(&wire.Response{ID: id, Status: status}, body)
	if err != nil {
		frame = mustEncode(&wire.Response{ID: id, Status: http.StatusInternalServerError})
	}
	if !c.queue.put(frame, false) {
		c.queue.putAlways(mustEncode(&wire.Response{ID: id, Status: http.StatusServiceUnavailable}))
	}
}

// sorry is a failure as the HTTP API tells it.
func sorry(f *fault.Error) json.RawMessage {
	text, err := json.Marshal(map[string]any{"error": f})
	if err != nil {
		return nil
	}
	return text
}

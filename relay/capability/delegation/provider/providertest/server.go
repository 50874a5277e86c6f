// Package providertest plays AI providers: servers that speak their wires, answer as a script says, and remember what
// they were asked. No test of it needs a network or a key.
package providertest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/lock"
)

// What the servers are asked with.
const (
	Key   = "test-key-0123456789"
	Model = "test-model"
)

// Step is one answer of a model, or a failure in its place.
type Step struct {
	Text   string   // comes in pieces of a few bytes, unless Pieces says which
	Pieces []string // of the text
	Calls  []provider.ToolCall
	Images []provider.Image // on the wire that has them
	Usage  provider.Usage
	Stop   string // in the words of package provider, or the provider's own; empty: as the rest implies

	Signature string // in base64, of reasoning before the text, on wires that have it

	Status     int         // instead: a refusal of that status
	Body       string      // its body; empty: as the provider writes it. With status 200: the whole answer
	Header     http.Header // of any answer
	ErrorEvent string      // after the text: a failure amid the stream, in the provider's word for it
	Garbage    string      // after the text: the data of an event that is nothing
	Ends       bool        // after the text: the stream ends without its end
	Cut        bool        // after the text: the connection is cut
	Holds      bool        // after the text: nothing comes until the request is gone

	Wait <-chan struct{} // nothing comes before it is closed
}

// Server is a provider. Its methods may be called concurrently.
type Server struct {
	URL   string
	Kind  provider.Kind
	Close func() // ends the server, after all its answers; the end of the test does so too

	t    testing.TB
	wire speaker
	next func(Request) Step

	mu   lock.Mutex
	seen []Request
	gone int
}

// New starts a provider that answers each request with the next step. One more request fails the test.
func New(t testing.TB, kind provider.Kind, script ...Step) *Server {
	t.Helper()
	return NewFunc(t, kind, func(r Request) Step {
		if r.Number >= len(script) {
			t.Errorf("request %d: the script has only %d steps", r.Number+1, len(script))
			return Step{Status: http.StatusBadRequest}
		}
		return script[r.Number]
	})
}

// NewFunc starts a provider whose answers next returns.
func NewFunc(t testing.TB, kind provider.Kind, next func(Request) Step) *Server {
	t.Helper()
	s := &Server{Kind: kind, t: t, wire: speakers[kind], next: next}
	if s.wire == nil {
		t.Fatalf("nobody speaks %q", kind)
	}
	server := httptest.NewServer(s)
	s.Close = server.Close
	t.Cleanup(server.Close)
	s.URL = server.URL + s.wire.base()
	return s
}

// Config is how a relay asks the server. It has the kind as its id.
func (s *Server) Config() provider.Config {
	return provider.Config{ID: string(s.Kind), Kind: s.Kind, BaseURL: s.URL, Key: Key, Models: []string{Model}}
}

// Provider asks the server.
func (s *Server) Provider() provider.Provider {
	s.t.Helper()
	p, err := provider.New(s.Config())
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// Requests are those that came so far, as the server understood them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// HTTPCalls is how many requests came.
func (s *Server) HTTPCalls() int { return len(s.Requests()) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked is gone
	}
	seen := Request{Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	wrong := s.wire.understand(&seen)
	s.mu.Lock()
	seen.Number = len(s.seen)
	s.seen = append(s.seen, seen)
	s.mu.Unlock()
	if wrong != "" {
		s.t.Errorf("request %d: %s\n%s", seen.Number+1, wrong, body)
	}
	step := s.next(seen)
	if step.Wait != nil {
		select {
		case <-step.Wait:
		case <-r.Context().Done():
			return
		}
	}
	maps.Copy(w.Header(), step.Header)
	if step.Status != 0 {
		s.refuse(w, step)
		return
	}
	s.stream(w, r, step)
}

func (s *Server) refuse(w http.ResponseWriter, step Step) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	body := []byte(step.Body)
	if step.Body == "" {
		body = encode(s.wire.refusal(step.Status))
	}
	w.WriteHeader(step.Status)
	_, _ = w.Write(body) // who asked may be gone
}

// stream sends the events of a step, each in two halves, so that they arrive as networks deliver them.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, step Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text string) {
		for _, half := range []string{text[:len(text)/2], text[len(text)/2:]} {
			_, _ = io.WriteString(w, half) // who asked may be gone
			_ = out.Flush()
		}
	}
	begin, end := s.wire.speak(step)
	for _, event := range begin {
		send(event)
	}
	switch {
	case step.Holds:
		<-r.Context().Done()
		s.mu.Lock()
		s.gone++
		s.mu.Unlock()
	case step.Cut:
		panic(http.ErrAbortHandler)
	case step.Ends:
	case step.ErrorEvent != "":
		send(s.wire.failure(step.ErrorEvent))
	case step.Garbage != "":
		send("data: " + step.Garbage + "\n\n")
	default:
		for _, event := range end {
			send(event)
		}
	}
}

// Gone is how many requests whose step Holds were given up by who asked.
func (s *Server) Gone() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// pieces are those in which a text comes: of a few bytes, so that they cut words and characters apart only where JSON
// can.
func (s Step) pieces() []string {
	if s.Pieces != nil || s.Text == "" {
		return s.Pieces
	}
	return inPieces(s.Text)
}

func inPieces(text string) (list []string) {
	const runes = 5
	all := []rune(text)
	for len(all) > runes {
		list, all = append(list, string(all[:runes])), all[runes:]
	}
	return append(list, string(all))
}

func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // a test that plays what cannot be said
	}
	return raw
}

func event(value any) string { return "data: " + string(encode(value)) + "\n\n" }

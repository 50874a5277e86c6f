package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

const (
	// heartbeat is how often a stream of events says something, so that both sides see a connection that is dead.
	heartbeat = 15 * time.Second
	// eventWrite is how long one write to a listener may take; one that stops reading is let go.
	eventWrite = 10 * time.Second
	// shownEvents is how many events a listener that names no place to resume at may ask for.
	shownEvents = 500
)

// streamEvents is GET /api/v1/events: what happens from now on, as server-sent events (WHATWG HTML, "Server-sent
// events"). The id of each is its number plus one life of the relay, so that Last-Event-ID resumes where a listener
// was, as far back as the relay remembers; what is missing is said with an event called gap. ?recent=N begins with the
// last N events; with &once=1 the answer is a JSON document of these alone.
func (a *API) streamEvents(w http.ResponseWriter, req *http.Request) {
	recent, problem := a.eventsBefore(req)
	if problem != nil {
		Refuse(w, http.StatusBadRequest, problem)
		return
	}
	if req.URL.Query().Get("once") != "" {
		Reply(w, http.StatusOK, map[string]any{"events": slices.DeleteFunc(listed(a.Events.Recent(recent.count)),
			hidden(req.Context()))})
		return
	}
	Streams(func(w http.ResponseWriter, req *http.Request) { a.stream(w, req, a.Events, recent) })(w, req)
}

// streamCalls is GET /api/v1/calls: the end of each call, and what plugins log in them, from now on, in the form of
// the event stream. Nothing of it is kept, and there is nothing to resume.
func (a *API) streamCalls(w http.ResponseWriter, req *http.Request) {
	a.stream(w, req, a.Trail, backlog{next: nextOf(a.Trail)})
}

// hidden says which events are not for whoever asks: agents hear of themselves, the person of all.
func hidden(ctx context.Context) func(event.Event) bool {
	session := Sender(ctx)
	all := policy.IsPerson(session)
	return func(e event.Event) bool { return !all && !e.Concerns(session) }
}

func (a *API) stream(w http.ResponseWriter, req *http.Request, bus *event.Bus, recent backlog) {
	news, stop := bus.Subscribe()
	defer stop()
	s := eventStream{w: w, control: http.NewResponseController(w), life: a.life(), hidden: hidden(req.Context())}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	s.next = recent.next
	for _, e := range bus.Recent(recent.count) {
		s.send(e)
	}
	s.flush()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for s.failed == nil {
		select {
		case e := <-news:
			s.send(e)
			s.flush()
		case <-beat.C:
			s.write(": still here\n\n")
			s.flush()
		case <-req.Context().Done():
			return
		case <-a.Stopping:
			return
		}
	}
}

// backlog says where a listener begins.
type backlog struct {
	count int    // of the events that have been
	next  uint64 // the number of the first one it has not seen
}

func (a *API) eventsBefore(req *http.Request) (backlog, *fault.Error) {
	seq := nextOf(a.Events)
	if id := req.Header.Get("Last-Event-ID"); id != "" {
		life, number, ok := cutID(id)
		if !ok {
			return backlog{}, fault.New(fault.InvalidRequest, "Last-Event-ID is not an id of this relay",
				fault.WithHint("Leave it out; ?recent=100 shows the last 100 events."))
		}
		if life != a.life() {
			return backlog{count: shownEvents}, nil // another relay's: everything of this one is new
		}
		return backlog{count: shownEvents, next: number + 1}, nil
	}
	count := 0
	if text := req.URL.Query().Get("recent"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil || count < 0 || count > shownEvents {
			return backlog{}, malformed(fmt.Sprintf("recent is not a number from 0 to %d", shownEvents))
		}
	}
	return backlog{count: count, next: seq - min(seq, uint64(count))}, nil
}

// nextOf is the number that the next event will have.
func nextOf(bus *event.Bus) uint64 {
	if last := bus.Recent(1); len(last) == 1 {
		return last[0].Seq + 1
	}
	return 0
}

// life tells the relays of a home folder apart, whose events are all counted from 0.
func (a *API) life() string { return strconv.FormatInt(a.Began.UnixMilli(), 36) }

func cutID(id string) (life string, number uint64, ok bool) {
	for i := len(id) - 1; i > 0; i-- {
		if id[i] == '-' {
			number, err := strconv.ParseUint(id[i+1:], 10, 63)
			return id[:i], number, err == nil
		}
	}
	return "", 0, false
}

// eventStream writes events to one listener.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	life    string
	next    uint64 // the number of the event that comes next, unless some are missing
	hidden  func(event.Event) bool
	failed  error
}

func (s *eventStream) send(e event.Event) {
	if e.Seq < s.next {
		return // it was sent as one of the recent ones
	}
	if missed := e.Seq - s.next; missed > 0 {
		s.write(fmt.Sprintf("event: gap\ndata: {\"missed\":%d}\n\n", missed))
	}
	s.next = e.Seq + 1
	if s.hidden(e) {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		// strings always encode
		text, _ = json.Marshal(event.Event{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Message: e.Message})
	}
	s.write(fmt.Sprintf("id: %s-%d\nevent: %s\ndata: %s\n\n", s.life, e.Seq, e.Kind, text))
}

func (s *eventStream) write(text string) {
	if s.failed != nil {
		return
	}
	if s.failed = s.control.SetWriteDeadline(time.Now().Add(eventWrite)); s.failed == nil {
		_, s.failed = s.w.Write([]byte(text))
	}
}

func (s *eventStream) flush() {
	if s.failed == nil {
		s.failed = s.control.Flush()
	}
}

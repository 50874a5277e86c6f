package relay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/road/event"
)

// listener reads the stream of events.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
	id    string // of the last one
}

func (w *world) listen(t *testing.T, query, after string) *listener {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := join.HTTP(w.home).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() }) // only read from
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, got)
	}
	return &listener{t: t, lines: bufio.NewScanner(res.Body)}
}

// next is the next event, as kind and message.
func (l *listener) next() string {
	l.t.Helper()
	kind := ""
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			l.id = value
		case "event":
			kind = value
		case "data":
			var e event.Event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				l.t.Fatal(err, value)
			}
			if kind == "gap" {
				return "gap " + value
			}
			return kind + " " + e.Message
		}
	}
	l.t.Fatal("the stream ended: ", l.lines.Err())
	return ""
}

func (l *listener) hears(want ...string) {
	l.t.Helper()
	var got []string
	for range want {
		got = append(got, l.next())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEventsOfBrowsersAndClients(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	l := w.listen(t, "?recent=10", "")
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	l.hears(`connected The browser profile "Chrome 1" connected`)
	mark := l.id
	b.Close()
	l.hears(`disconnected The browser profile "Chrome 1" is not connected any more`,
		`reconnecting Calls for "Chrome 1" wait up to 5s for it to come back`)
	w.agent(nobodyStarts)
	l.hears("session The client ann attached")

	w.listen(t, "", mark).hears(`disconnected The browser profile "Chrome 1" is not connected any more`,
		`reconnecting Calls for "Chrome 1" wait up to 5s for it to come back`, "session The client ann attached")
	w.listen(t, "?recent=1", "").hears("session The client ann attached")
	w.listen(t, "", "older-7").hears(`connected The browser profile "Chrome 1" connected`) // of another relay's life

	for i := range 600 { // more than are remembered
		r.events.Publish(event.OfPerson(), event.Retry, fmt.Sprint(i), nil)
	}
	late := w.listen(t, "", mark)
	if got := late.next(); !strings.HasPrefix(got, `gap {"missed":103`) {
		t.Errorf("a listener that was away for long hears first: %s", got)
	}
	late.hears("retry 100")
}

func TestEventsRefuseNonsense(t *testing.T) {
	w := newWorld(t)
	w.relay()
	for _, query := range []string{"?recent=x", "?recent=-1", "?recent=501"} {
		res, err := join.HTTP(w.home).Get("http://127.0.0.1/api/v1/events" + query)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only read from
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}
}

package hub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
)

// ask asks as the panel of b does, in the time of the lab.
func ask(t *testing.T, b *hubtest.Browser, method, path string, body json.RawMessage) hubtest.Response {
	t.Helper()
	r, err := b.Ask(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPanelRequestIsAnswered(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		if r := ask(t, b, "GET", "/api/v1/status", nil); r.Status != http.StatusServiceUnavailable ||
			!strings.Contains(string(r.Body), "hint") {
			t.Errorf("before anybody answers: %d %s", r.Status, r.Body)
		}
		var got hub.PanelRequest
		l.hub.ServePanels(func(_ context.Context, r hub.PanelRequest) (int, json.RawMessage) {
			got = r
			return http.StatusConflict, json.RawMessage("{\n\"a\": 1}")
		})
		r := ask(t, b, "PUT", "/api/v1/paused?x=1", json.RawMessage(`{"paused":true}`))
		if r.Status != http.StatusConflict || string(r.Body) != "{\n\"a\": 1}" {
			t.Errorf("got %d %s", r.Status, r.Body)
		}
		want := hub.PanelRequest{ProfileID: b.ProfileID(), Method: "PUT", Path: "/api/v1/paused?x=1",
			Body: []byte(`{"paused":true}`)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestPanelRequestsHaveLimits(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		large := strings.Repeat("x", wire.MaxResponseBytes)
		l.hub.ServePanels(func(_ context.Context, r hub.PanelRequest) (int, json.RawMessage) {
			return http.StatusOK, json.RawMessage(`"` + large[:len(large)-2+len(r.Body)/wire.MaxRequestBytes] + `"`)
		})
		if r := ask(t, b, "GET", "/", nil); r.Status != http.StatusOK || len(r.Body) != wire.MaxResponseBytes {
			t.Errorf("the largest answer: %d, %d bytes", r.Status, len(r.Body))
		}
		full := json.RawMessage(`"` + strings.Repeat("y", wire.MaxRequestBytes-2) + `"`)
		if r := ask(t, b, "POST", "/", full); r.Status != http.StatusInternalServerError ||
			!strings.Contains(string(r.Body), "OUTPUT_TOO_LARGE") {
			t.Errorf("an answer that is too large: %d, %.99s", r.Status, r.Body)
		}
		if r := ask(t, b, "POST", "/", append(full, ' ')); r.Status != http.StatusRequestEntityTooLarge ||
			!strings.Contains(string(r.Body), "INPUT_TOO_LARGE") {
			t.Errorf("a body that is too large: %d, %.99s", r.Status, r.Body)
		}
	})
}

func TestPanelRequestsAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b, other := l.connect(), l.connect()
		var working atomic.Int32
		l.hub.ServePanels(func(ctx context.Context, r hub.PanelRequest) (int, json.RawMessage) {
			working.Add(1)
			if r.Path == "/hangs" {
				<-ctx.Done()
			}
			return http.StatusOK, nil
		})
		for range 16 {
			b.Send(&wire.Request{ID: wire.NewID(), Method: "GET", Path: "/hangs"})
		}
		synctest.Wait()
		if r := ask(t, b, "GET", "/", nil); r.Status != http.StatusTooManyRequests ||
			!strings.Contains(string(r.Body), "OVERLOADED") {
			t.Errorf("the seventeenth: %d %s", r.Status, r.Body)
		}
		if r := ask(t, other, "GET", "/", nil); r.Status != http.StatusOK {
			t.Errorf("another profile's: %d %s", r.Status, r.Body)
		}
		if n := working.Load(); n != 17 {
			t.Errorf("%d were worked on", n)
		}
		if l.invoke(request(func(r *call.Invocation) { r.Profile = b.ProfileID() })).failure != nil {
			t.Error("a call was held up")
		}
		time.Sleep(wire.RequestTime)
		synctest.Wait()
		if r := ask(t, b, "GET", "/", nil); r.Status != http.StatusOK {
			t.Errorf("after their time was over: %d %s", r.Status, r.Body)
		}
	})
}

func TestPanelRequestEndsWithItsConnection(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		ended := make(chan struct{})
		l.hub.ServePanels(func(ctx context.Context, _ hub.PanelRequest) (int, json.RawMessage) {
			<-ctx.Done()
			close(ended)
			return http.StatusOK, nil
		})
		b.Send(&wire.Request{ID: wire.NewID(), Method: "GET", Path: "/"})
		synctest.Wait()
		b.Drop()
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("it goes on")
		}
	})
}

func TestNewsReachesThoseWhoKnowIt(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		old := l.connect(func(o *hubtest.Options) { o.Protocol = wire.Range{Min: 1, Max: 1} })
		l.hub.TellPanels(nil, func(profile string) int {
			if profile != b.ProfileID() {
				t.Errorf("asked for %s", profile)
			}
			return 3
		})
		synctest.Wait()
		if diff := cmp.Diff([]wire.News{{Topics: []string{}, Waiting: 3}}, b.News()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(old.News()) != 0 {
			t.Error("an old extension was sent news")
		}
		l.invoke(request(func(r *call.Invocation) { r.Profile = old.ProfileID() })).wantOutput(t, `{"x":1}`)
	})
}

func TestThePersonNamesAProfile(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		var named []string
		l.hub.Events(func(e hub.Event) {
			if e.Kind == hub.Renamed {
				named = append(named, e.Profile)
			}
		})
		b.Send(&wire.Renamed{Label: "Work\n\u202eaccount" + strings.Repeat(" x", 100)})
		b.Send(&wire.Renamed{Label: "Home"})
		synctest.Wait()
		if len(named) != 2 || !strings.HasPrefix(named[0], "Work account x") || len(named[0]) != 64 ||
			named[1] != "Home" {
			t.Errorf("got %q", named)
		}
		got := l.invoke(request(func(r *call.Invocation) { r.Profile = "Home" }))
		if got.failure != nil || got.reply.Profile != "Home" {
			t.Errorf("a call to it: %+v", got)
		}
	})
}

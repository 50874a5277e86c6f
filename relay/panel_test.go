package relay

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabrelay/extension"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/called"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// dialIn connects a browser to a relay, and returns when the relay knows its tabs: before that no call goes there.
func dialIn(t *testing.T, r *Relay, change ...func(*hubtest.Options)) *hubtest.Browser {
	t.Helper()
	o := hubtest.Options{Address: r.Address(), Secret: r.secrets.Pairing(), ExtensionID: extension.ID,
		ProfileID: wire.NewID()}
	for _, c := range change {
		c(&o)
	}
	told := make(chan struct{}, 1)
	defer r.hub.OnTabs(func(n hub.TabNews) {
		if n.ProfileID == o.ProfileID {
			select {
			case told <- struct{}{}:
			default:
			}
		}
	})()
	b, err := hubtest.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	ready := func(seen hub.Browser) bool { return seen.ProfileID == o.ProfileID && seen.Connected }
	for !slices.ContainsFunc(r.hub.Browsers(), ready) {
		<-told
	}
	return b
}

func TestPanelReachesTheAPI(t *testing.T) {
	r, end := newWorld(t).relay()
	defer end()
	b := dialIn(t, r)
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"read", "GET", "/api/v1/status", "", http.StatusOK, `"running":true`},
		{"query", "GET", "/api/v1/events?once=1&recent=1", "", http.StatusOK, `"events":[`},
		{"body", "POST", "/api/v1/tools/shop__read/call", `{"arguments":{"wrong":1}}`, http.StatusOK,
			"VALIDATION_ERROR"},
		{"broken body", "POST", "/api/v1/tools/shop__read/call", `{`, http.StatusBadRequest, "INVALID_REQUEST"},
		{"unknown path", "GET", "/api/v1/nothing", "", http.StatusNotFound, "RESOURCE_NOT_FOUND"},
		{"unknown method of a path", "DELETE", "/api/v1/status", "", http.StatusMethodNotAllowed,
			"does not take DELETE"},
		{"method of nobody", "CONNECT", "/api/v1/status", "", http.StatusMethodNotAllowed, "cannot send CONNECT"},
		{"other method", "OPTIONS", "/api/v1/status", "", http.StatusMethodNotAllowed, "cannot send OPTIONS"},
		{"MCP", "POST", "/mcp", `{}`, http.StatusNotFound, "cannot ask for /mcp"},
		{"metrics", "GET", "/metrics", "", http.StatusNotFound, "cannot ask"},
		{"another version", "GET", "/api/v2/status", "", http.StatusNotFound, "cannot ask"},
		{"out of it", "GET", "/api/v1/../../metrics", "", http.StatusNotFound, "cannot ask"},
		{"out of it, encoded", "GET", "/api/v1/%2e%2e/%2e%2e/metrics", "", http.StatusNotFound, "cannot ask"},
		{"two slashes", "GET", "/api/v1//status", "", http.StatusNotFound, "cannot ask"},
		{"another host", "GET", "//evil.example/api/v1/status", "", http.StatusNotFound, "cannot ask"},
		{"long path", "GET", "/api/v1/" + strings.Repeat("x", 2048), "", http.StatusRequestURITooLong, "2056 bytes"},
		{"stream of events", "GET", "/api/v1/events", "", http.StatusBadRequest, "is a stream"},
		{"stream of calls", "GET", "/api/v1/calls", "", http.StatusBadRequest, "is a stream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body json.RawMessage
			if tt.body != "" {
				body = json.RawMessage(tt.body)
			}
			answer, err := b.Ask(t.Context(), tt.method, tt.path, body)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status != tt.status || !strings.Contains(string(answer.Body), tt.says) {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
			if !json.Valid(answer.Body) {
				t.Errorf("no JSON: %s", answer.Body)
			}
		})
	}
}

func TestNewsReachesThePanel(t *testing.T) {
	r, end := newWorld(t).relay()
	defer end()
	b := dialIn(t, r)
	if err := b.AwaitNews(t.Context(), func(wire.News) bool { return true }); err != nil {
		t.Fatal("how many questions wait is told on connecting: ", err)
	}
	r.panels.Changed(event.TopicRunning)
	if err := b.AwaitNews(t.Context(), func(n wire.News) bool {
		return slices.Contains(n.Topics,
			event.TopicRunning)
	}); err != nil {
		t.Errorf("got %v: %v", b.News(), err)
	}
}

// TestRemediesOfThePanel: the panel is offered what this relay can have done about a finding, and nothing else is done
// for it.
func TestRemediesOfThePanel(t *testing.T) {
	r, end := newWorld(t).relay()
	defer end()
	b := dialIn(t, r)
	if err := os.Chmod(string(r.Home), 0o755); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) hubtest.Response {
		t.Helper()
		answer, err := b.Ask(t.Context(), method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const closes = `"fix":"closes the home folder to others"`
	if found := string(ask("GET", "/api/v1/doctor").Body); !strings.Contains(found, "home-open") ||
		strings.Contains(found, `"fix"`) {
		t.Errorf("nothing can be repaired, and %s", found)
	}
	called.Set(called.Program, "/opt/tabrelay", map[string]bool{"up": true, "down": true})
	defer called.Set(called.Program, called.Program, nil)
	if found := string(ask("GET", "/api/v1/doctor").Body); !strings.Contains(found,
		"then run: /opt/tabrelay down, then /opt/tabrelay up") { // review-off
		t.Errorf("commands that cannot be pasted: %s", found)
	}
	var repaired []string
	r.api.Repair = func(finding string) error {
		repaired = append(repaired, finding)
		if len(repaired) > 1 {
			return fault.Hinted(errors.New("no"), "try that")
		}
		return nil
	}
	if found := string(ask("GET", "/api/v1/doctor").Body); !strings.Contains(found, closes) {
		t.Errorf("%s without %s", found, closes)
	}
	if got := ask("POST", "/api/v1/doctor/home-open"); got.Status != http.StatusOK {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := ask("POST", "/api/v1/doctor/home-open"); got.Status != http.StatusConflict ||
		!strings.Contains(string(got.Body), "try that") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	t.Setenv("SYSTEMD_EXEC_PID", strconv.Itoa(os.Getpid()))
	for _, finding := range []string{"port-taken", "nonsense", "--all", "config-waits"} {
		if got := ask("POST", "/api/v1/doctor/"+finding); got.Status != http.StatusConflict {
			t.Errorf("%s: %d %s", finding, got.Status, got.Body)
		}
	}
	if !slices.Equal(repaired, []string{"home-open", "home-open"}) {
		t.Errorf("repaired %q", repaired)
	}
}

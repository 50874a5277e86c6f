package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tabrelay/relay/event"
	"tabrelay/relay/hub/hubtest"
)

// What an agent reads of the relay names no tab, no folder and nothing that other clients do.
func TestStatusForAgents(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(c.Arguments) })
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	leave := r.clients.enter("bob", "http")
	defer leave()
	read := func(token string) (text string, s Status) {
		t.Helper()
		status, body := asks(t, r, token, "/api/v1/status")
		if err := json.Unmarshal(body, &s); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		return string(body), s
	}
	if text, s := read(r.secrets.Local()); len(s.Tabs) == 0 || len(s.Clients) == 0 || !strings.Contains(text, string(r.Home)) {
		t.Fatalf("the person does not see what the agent is not to see: %s", text)
	}
	text, s := read(token)
	if !s.Running || len(s.Browsers) != 1 || len(s.Tabs) != 0 || len(s.Clients) != 0 || strings.Contains(text, string(r.Home)) {
		t.Errorf("an agent reads %s", text)
	}
}

// An agent hears of the relay and of itself; what other clients call, and what the person is asked for them, is theirs.
func TestEventsForAgents(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"ann", "bob"} {
		r.events.Publish(event.Session, "about "+client, map[string]any{"client": client})
	}
	r.events.Publish(event.Connected, "about none", nil)
	for _, path := range []string{"/api/v1/events?recent=100&once=1", "/api/v1/events?recent=100"} {
		for who, token := range map[string]string{"ann": token, "person": r.secrets.Local()} {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for lines := bufio.NewScanner(res.Body); !strings.Contains(text, "about none") && lines.Scan(); {
				text += lines.Text() + "\n"
			}
			cancel()
			res.Body.Close()
			if sees := strings.Contains(text, "about bob"); sees != (who == "person") || !strings.Contains(text, "about ann") || strings.Contains(text, "event: gap") {
				t.Errorf("%s reads at %s: %s", who, path, text)
			}
		}
	}
}

package relay

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

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
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.Address()+"/api/v1/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res.StatusCode, err)
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

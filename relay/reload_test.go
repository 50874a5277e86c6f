package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/join"
)

// A configuration that cannot be read changes nothing, is told once, and is told to be over.
func TestReloadRefusesWhatIsBroken(t *testing.T) {
	t.Setenv("TABRELAY_PERMISSIONS", "auto") // as openConfig has it
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w := newWorld(t)
	token := w.token("bob", call.Scope{})
	r, _ := w.relay()
	news, stop := r.events.Subscribe()
	defer stop()
	before := r.tools.Snapshot()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(w.home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\n  \"listn\": \"127.0.0.1:1\"}")
	if _, failure := r.reload(t.Context()); failure == nil {
		t.Fatal("it was taken over")
	}
	e := <-news
	if e.Kind != event.Error || !strings.Contains(e.Message, "config.json:2: listn: no such setting; did you mean listen?") || strings.Contains(e.Message, string(w.home)) {
		t.Errorf("the event is %+v", e)
	}
	res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/reload", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	var answer struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusUnprocessableEntity || answer.Error.Code != "CONFIG_ERROR" || !strings.Contains(answer.Error.Message, "did you mean listen?") || answer.Error.Hint == "" {
		t.Errorf("the API answers %d %+v %v", res.StatusCode, answer, err)
	}
	if _, said := sends(t, r, http.MethodPost, token, "/api/v1/reload"); !strings.Contains(string(said), "did you mean listen?") || strings.Contains(string(said), string(w.home)) {
		t.Errorf("an agent reads %s", said)
	}
	if len(news) != 0 {
		t.Error("the same refusal was told twice")
	}
	if _, there := r.tools.Snapshot().Find("shop__read"); !there || len(r.tools.Snapshot().Tools) != len(before.Tools) {
		t.Error("the tools changed")
	}
	if got, _ := r.health(t.Context(), struct{}{}); got.Refused == nil || got.Refused.Code != "CONFIG_ERROR" {
		t.Errorf("health says %+v", got.Refused)
	}
	write(`{"listen": "127.0.0.1:1", "logging": {"level": "debug"}, "plugins": {"shop": {"enabled": false}}}`)
	restart, failure := r.reload(t.Context())
	if diff := cmp.Diff([]string{"listen", "demo.listen", "logging.level"}, restart); diff != "" || failure != nil {
		t.Errorf("%v (-want +got)\n%s", failure, diff)
	}
	if _, there := r.tools.Snapshot().Find("shop__read"); there {
		t.Error("the plugin was switched off, but its tools are there")
	}
	if r.refused.get() != nil {
		t.Error("the refusal outlived its cause")
	}
}

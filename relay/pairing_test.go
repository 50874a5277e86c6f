package relay

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi"
)

func TestPairingOverTheAPI(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	defer end()
	b := dialIn(t, r)
	answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/pairing", nil)
	if err != nil {
		t.Fatal(err)
	}
	var p httpapi.Pairing
	if err := json.Unmarshal(answer.Body, &p); err != nil {
		t.Fatal(err)
	}
	address, code, _ := strings.Cut(p.Text, "/")
	if address != r.Address() || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(code) ||
		time.Until(p.Until) > 5*time.Minute {
		t.Fatalf("got %+v", p)
	}
	o := hubtest.Options{Address: address, Secret: code, ExtensionID: extension.ID}
	secret, err := hubtest.Pair(t.Context(), o)
	if err != nil || secret != r.secrets.Pairing() {
		t.Fatalf("got %q, %v", secret, err)
	}
	o.Secret = secret
	paired, err := hubtest.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	paired.Close()
	for _, shown := range r.events.Recent(50) {
		text, _ := json.Marshal(shown)
		if strings.Contains(string(text), code) || strings.Contains(string(text), secret) {
			t.Errorf("an event tells a secret: %s", text)
		}
	}
}

package relay

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/hub/hubtest"
)

func TestAPairingStringIsGoodForAWhileAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pairings
		if p.Code() != "" || p.Use("") {
			t.Error("there is a string before one was made")
		}
		first, until := p.make()
		if time.Until(until) != 5*time.Minute || p.Code() != first {
			t.Errorf("it is good until %s", until)
		}
		second, _ := p.make()
		if first == second || p.Use(first) {
			t.Error("a new string does not replace the one before")
		}
		if !p.Use(second) || p.Use(second) || p.Code() != "" {
			t.Error("a string is not good once")
		}
		third, _ := p.make()
		time.Sleep(5*time.Minute - time.Nanosecond)
		if p.Code() != third {
			t.Error("it ran out early")
		}
		time.Sleep(time.Nanosecond)
		if p.Use(third) || p.Code() != "" {
			t.Error("it did not run out")
		}
	})
}

func TestPairingOverTheAPI(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	defer end()
	b := dialIn(t, r)
	answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/pairing", nil)
	if err != nil {
		t.Fatal(err)
	}
	var p Pairing
	if err := json.Unmarshal(answer.Body, &p); err != nil {
		t.Fatal(err)
	}
	address, code, _ := strings.Cut(p.Text, "/")
	if address != r.Address() || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(code) || time.Until(p.Until) > 5*time.Minute {
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

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/policy"
)

// What is not JSON comes as a JSON string, so that every body is one value.
func TestPanelAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, kind, text string
		status           int
		want             string
	}{
		{"text", "text/csv; charset=utf-8", "a,b\n", http.StatusOK, `"a,b\n"`},
		{"JSON", "application/json; charset=utf-8", `{"a":1}`, http.StatusAccepted, `{"a":1}`},
		{"nothing", "", "", http.StatusNoContent, ""},
		{"too much", "text/plain", strings.Repeat("x", wire.MaxResponseBytes+1), http.StatusInternalServerError,
			"OUTPUT_TOO_LARGE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &panelWriter{header: http.Header{}}
			w.Header().Set("Content-Type", tt.kind)
			if tt.name != "too much" {
				w.WriteHeader(tt.status)
			}
			_, _ = w.Write([]byte(tt.text))
			status, body := w.answer()
			if status != tt.status || !strings.Contains(string(body), tt.want) || tt.want == "" && len(body) != 0 {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
}

func TestPanelRequestThatPanics(t *testing.T) {
	s := serve(t)
	b := s.browser()
	s.hub.ServePanels(servePanel(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }),
		zerolog.Nop()))
	answer, err := b.Ask(t.Context(), "GET", "/api/v1/status", nil)
	if err != nil || answer.Status != http.StatusInternalServerError || !strings.Contains(string(answer.Body),
		"INTERNAL_ERROR") {
		t.Errorf("got %d %s, %v", answer.Status, answer.Body, err)
	}
}

// A panel is the person: it may do what agents may not, and its session is its profile's.
func TestPanelIsThePerson(t *testing.T) {
	site := serve(t)
	b := site.browser()
	site.hub.ServePanels(servePanel(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s, known := fromPanel(req.Context())
		Reply(w, http.StatusOK, map[string]any{"session": s.ID, "client": s.Client, "via": s.Via, "person": known &&
			policy.IsPerson(s)})
	}), zerolog.Nop()))
	answer, err := b.Ask(t.Context(), "GET", "/api/v1/status", nil)
	want := `{"client":"panel","person":true,"session":"panel:` + b.ProfileID() + `","via":"panel"}`
	if err != nil || string(answer.Body) != want {
		t.Errorf("got %s, %v", answer.Body, err)
	}
}

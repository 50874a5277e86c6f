package relay

import (
	"net/http"
	"strings"
	"testing"

	"tabrelay/relay/road/policy"
)

// A request for the person's hand is answered over HTTP, once, with nothing but "done" and "cannot". While every agent
// is stopped, none may ask.
func TestHandoverIsAnswered(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	a := w.agent(nobodyStarts)
	a.call(1, "relay__ask_person", `{"why":"Decide"}`)
	var id string
	for id == "" {
		_, list := w.person(t, http.MethodGet, "/api/v1/handovers", "")
		if _, after, found := strings.Cut(list, `"id":"`); found {
			id, _, _ = strings.Cut(after, `"`)
		}
	}
	const path = "/api/v1/handovers/"
	for body, want := range map[string]int{
		`{"answer":"allow"}`: http.StatusBadRequest, `{"answer":"done","for":"always"}`: http.StatusBadRequest,
	} {
		if status, said := w.person(t, http.MethodPost, path+id, body); status != want {
			t.Errorf("%s: %d %s", body, status, said)
		}
	}
	if status, said := w.person(t, http.MethodPost, path+id, `{"answer":"done"}`); status != http.StatusOK {
		t.Fatal(status, said)
	}
	a.hears(`"id":1`, "The person says that it is done.")
	if status, said := w.person(t, http.MethodPost, path+id, `{"answer":"done"}`); status != http.StatusGone {
		t.Errorf("answered twice: %d %s", status, said)
	}
	if err := r.policy.Pause(t.Context(), true, policy.ByTerminal); err != nil {
		t.Fatal(err)
	}
	a.call(2, "relay__ask_person", `{"why":"Decide"}`)
	a.hears(`"id":2`, "code=PERMISSION_DENIED")
}

package relay

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
)

// The side panel reviews like the terminal, is told so in the log, and is not sent more than it can show.
func TestReviewInThePanel(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	v := w.reviewer(t)
	panel := v.api.Panel()
	ask := func(method, path string, body any, want int) []byte {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := panel(t.Context(), hub.PanelRequest{ProfileID: "p", Method: method, Path: "/api/v1/" + path,
			Body: text})
		if status != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, status, answer, want)
		}
		return answer
	}
	if list := ask("GET", "reviews", nil, http.StatusOK); !bytes.Contains(list, []byte(`"plugin":"tea"`)) {
		t.Errorf("the list is %s", list)
	}
	ask("POST", "reviews/tea", httpapi.Decision{Hash: strings.Repeat("ab", 32), Verdict: "accept"}, http.StatusConflict)
	ask("POST", "reviews/tea", httpapi.Decision{Hash: a.Hash, Verdict: "accept"}, http.StatusOK)
	v.runs("tea", a.Hash, review.Accepted)
	if s := v.sheet("tea"); s.Reviewed == nil || s.Reviewed.By != "panel" {
		t.Errorf("the sheet is %+v", s)
	}
	if _, log := v.ask("GET", "audit?kind=review", nil); !bytes.Contains(log, []byte(`"decidedBy":"panel"`)) {
		t.Errorf("the audit log is %s", log)
	}

	// What the panel cannot show whole it does not show, so that nobody accepts the part that they saw.
	b := w.put("tea", "`"+strings.Repeat("x", (1<<20))+"`", nil)
	v.again()
	if answer := ask("GET", "reviews/tea", nil, http.StatusRequestEntityTooLarge); !bytes.Contains(answer,
		[]byte("In a terminal: tabrelay plugin review tea")) {
		t.Errorf("the answer is %s", answer)
	}
	if s := v.sheet("tea"); s.Hash != b.Hash || s.Size() <= (1<<20) {
		t.Error("the terminal is not shown all")
	}
	v.runs("tea", a.Hash, review.Waiting)
}

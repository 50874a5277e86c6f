package relay

import (
	"net/http"
	"strings"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/capability/recording"
	"tabrelay/relay/lib/rawjson"
)

// A tab is recorded with a person's word only, for one origin and a bounded time.
func TestRecordingIsConfirmed(t *testing.T) {
	w := newWorld(t)
	w.guarded(nil)
	const path = "/api/v1/recordings"
	refused := func(o recording.Order) string {
		return w.refusedUnconfirmed(t, http.MethodPost, path, string(rawjson.MustEncode(o)))
	}
	asked := refused(recording.Order{URL: "https://shop.example/tea?a=1", Seconds: 90})
	for _, words := range []string{"https://shop.example:", "1m30s", "a new tab"} {
		if !strings.Contains(asked, words) {
			t.Errorf("the person is asked %s, without %q", asked, words)
		}
	}
	asked = refused(recording.Order{URL: "https://a:b@SHOP.example:443/", Seconds: 9})
	if !strings.Contains(asked, " at https://shop.example:") || strings.Contains(asked, "443") {
		t.Errorf("the person is asked %s, which is not how the browser writes the origin", asked)
	}
	for body, want := range map[string]int{
		`{"url":"https://shop.example/","seconds":0}`:           http.StatusBadRequest,
		`{"url":"https://shop.example/","seconds":3600}`:        http.StatusPreconditionRequired,
		`{"url":"https://shop.example/","seconds":3601}`:        http.StatusBadRequest,
		`{"url":"https://shop.example/","tabId":7,"seconds":9}`: http.StatusBadRequest,
		`{"seconds":9}`:                  http.StatusBadRequest,
		`{"url":"file:///","seconds":9}`: http.StatusNotFound,
		`{"tabId":4711,"seconds":9}`:     http.StatusNotFound,
	} {
		res, err := join.HTTP(w.home).Do(request(t, http.MethodPost, path, body))
		if err != nil || res.StatusCode != want {
			t.Errorf("%s: %v %v, want %d", body, res, err, want)
		}
	}
}

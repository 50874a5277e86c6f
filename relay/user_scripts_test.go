package relay

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/doctor"
)

// An extension from a store says which added plugins Chrome does not run yet. The doctor says so, names nothing that is
// not a plugin of this relay, and forgets it with the connection.
func TestPluginsThatWaitForUserScripts(t *testing.T) {
	r, end := newWorld(t).relay()
	defer end()
	b := dialIn(t, r)
	profile := r.hub.Browsers()[0].ProfileID
	told := func(body string, status int, want string) {
		t.Helper()
		got, answer := r.api.Panel()(t.Context(), hub.PanelRequest{ProfileID: profile, Method: http.MethodPut,
			Path: "/api/v1/extension/user-scripts", Body: []byte(body)})
		if got != status || !strings.Contains(string(answer), want) {
			t.Fatalf("%.80s: %d %s", body, got, answer)
		}
	}
	found := func(id string) (what string) {
		all := r.api.Diagnose(t.Context())
		if i := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.ID == id }); i >= 0 {
			what = all[i].What
		}
		return what
	}
	for _, body := range []string{`{}`, `{"waiting":null}`, `{"waiting":"shop"}`, `[]`, `{"waiting":[1]}`, `{`} {
		told(body, http.StatusBadRequest, "INVALID_REQUEST")
	}
	if what := found("user-scripts-off"); what != "" {
		t.Errorf("nothing was told, and found is %q", what)
	}
	told(`{"waiting":["shop","shop","\u202eevil","browser",""]}`, http.StatusOK, `{"waiting":["shop"]}`)
	if what := found("user-scripts-off"); !strings.HasSuffix(what, "does not run plugins that you added: shop") {
		t.Errorf("found is %q", what)
	}
	told(`{"waiting":[]}`, http.StatusOK, `{"waiting":[]}`)
	if what := found("user-scripts-off"); what != "" || !r.hub.Browsers()[0].Store {
		t.Errorf("found is %q, of %+v", what, r.hub.Browsers()[0])
	}
	told(`{"waiting":["shop"]}`, http.StatusOK, "shop")
	b.Close()
	dialIn(t, r, func(o *hubtest.Options) { o.ProfileID = profile })
	if next := r.hub.Browsers(); len(next) != 1 || !next[0].Connected || next[0].Store || next[0].Waiting != nil {
		t.Errorf("the next connection has %+v", next)
	}
}

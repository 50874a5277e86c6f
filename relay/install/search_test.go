package install

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A registry is asked for both names that plugins have, and what is none by its name is left out.
func TestSearch(t *testing.T) {
	var asked []string
	answer := `{"objects":[{"package":{"name":"%[1]s-tea","version":"1.2.0","description":"Tea","keywords":["x"]}},
		{"package":{"name":"@shop/%[1]s-tea","version":"2.0.0"}},{"package":{"name":"tea","version":"9.0.0"}},
		{"package":{"name":"not-%[1]s-tea","version":"9.0.0"}}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.URL.Path+"?"+req.URL.RawQuery)
		prefix, _, _ := strings.Cut(req.URL.Query().Get("text"), " ")
		fmt.Fprintf(w, answer, prefix)
	}))
	defer server.Close()
	c := &Config{values: map[string]string{}}
	c.Use(server.URL + "/npm")
	found, err := c.Search(t.Context(), "tea & cake", 3)
	want := []Found{{"tabrelay-plugin-tea", "1.2.0", "Tea"}, {"@shop/tabrelay-plugin-tea", "2.0.0", ""},
		{"opentabs-plugin-tea", "1.2.0", "Tea"}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("found %+v, %v", found, err)
	}
	if want := []string{"/npm/-/v1/search?size=3&text=tabrelay-plugin+tea+%26+cake",
		"/npm/-/v1/search?size=3&text=opentabs-plugin+tea+%26+cake"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	answer = "<html>"
	if _, err := c.Search(t.Context(), "", 3); err == nil || !strings.Contains(err.Error(), "is not JSON") {
		t.Errorf("got %v", err)
	}
	server.Close()
	if _, err := c.Search(t.Context(), "", 3); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("got %v", err)
	}
	if _, err := (&Config{values: map[string]string{}}).Search(t.Context(), "", 3); err == nil {
		t.Error("no registry is configured, and it was searched")
	}
}

package demo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ask sends one request to a site in memory and decodes the JSON answer into value.
func ask(t *testing.T, site http.Handler, method, target, body string, value any) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
	if value != nil {
		if err := json.Unmarshal(w.Body.Bytes(), value); err != nil {
			t.Fatalf("%s %s: %v in %q", method, target, err, w.Body)
		}
	}
	return w.Result()
}

func TestPages(t *testing.T) {
	site := Site()
	var list struct {
		Pages []struct{ Slug, Title string }
	}
	ask(t, site, "GET", "/api/pages", "", &list)
	if len(list.Pages) != 3 {
		t.Fatalf("got %d pages, want 3", len(list.Pages))
	}
	for _, p := range list.Pages {
		res := ask(t, site, "GET", "/pages/"+p.Slug, "", nil)
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != 200 || !strings.Contains(string(text), "<h1>"+p.Title+"</h1>") {
			t.Errorf("%s: status %d, body %.200s", p.Slug, res.StatusCode, text)
		}
	}
	if res := ask(t, site, "GET", "/pages/none", "", nil); res.StatusCode != 404 {
		t.Errorf("a page that does not exist: status %d, want 404", res.StatusCode)
	}
	for _, path := range []string{"/", "/login", "/static/site.css", "/static/cup.svg"} {
		if res := ask(t, site, "GET", path, "", nil); res.StatusCode != 200 {
			t.Errorf("%s: status %d, want 200", path, res.StatusCode)
		}
	}
}

func TestCounterLogsEveryIncrement(t *testing.T) {
	site := Site()
	ask(t, site, "POST", "/api/counters/a", `{"by":2,"key":"k"}`, nil)
	ask(t, site, "POST", "/api/counters/a", `{"key":"k"}`, nil)
	var got counter
	ask(t, site, "GET", "/api/counters/a", "", &got)
	if got.Value != 3 || got.Asked != 2 || got.Log[0].Key != "k" || got.Log[1].By != 1 {
		t.Errorf("got %+v", got)
	}
	if res := ask(t, site, "POST", "/api/counters/a", `nonsense`, nil); res.StatusCode != 400 {
		t.Errorf("a body that is not JSON: status %d, want 400", res.StatusCode)
	}
}

func TestCountersAreBounded(t *testing.T) {
	c := newCounters()
	for range maxEntries + 5 {
		c.add("a", increment{By: 1})
	}
	if got := c.snapshot("a"); got.Asked != maxEntries+5 || len(got.Log) != maxEntries {
		t.Errorf("asked %d, log %d", got.Asked, len(got.Log))
	}
	for i := range maxNames {
		c.add("name"+string(rune(i)), increment{By: 1})
	}
	if c.add("one too many", increment{By: 1}) {
		t.Error("a counter beyond the limit was accepted")
	}
}

func TestNotesWaitForTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := Site()
		done := make(chan int)
		go func() {
			var got struct{ Notes []note }
			ask(t, site, "GET", "/api/notes/n?count=1", "", &got)
			done <- len(got.Notes)
		}()
		synctest.Wait()
		ask(t, site, "POST", "/api/notes/n", `{"text":"aborted"}`, nil)
		if got := <-done; got != 1 {
			t.Errorf("got %d notes, want 1", got)
		}
		if res := ask(t, site, "GET", "/api/notes/n?count=2", "", nil); res.StatusCode != 504 {
			t.Errorf("a note that never comes: status %d, want 504", res.StatusCode)
		}
	})
}

func TestSignInAndOut(t *testing.T) {
	server := httptest.NewServer(Site())
	defer server.Close()
	jar := &oneCookie{}
	client := &http.Client{Jar: jar}
	post := func(path string, form url.Values) int {
		res, err := client.PostForm(server.URL+path, form)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	me := func() int {
		res, err := client.Get(server.URL + "/api/me")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := post("/login", url.Values{"name": {"Ada"}, "password": {"wrong"}}); got != 403 {
		t.Errorf("wrong password: status %d, want 403", got)
	}
	if got := me(); got != 401 {
		t.Errorf("signed out: status %d, want 401", got)
	}
	if got := post("/login", url.Values{"name": {"Ada"}, "password": {"demo"}}); got != 200 {
		t.Errorf("right password: status %d, want 200 after the redirect", got)
	}
	if got := me(); got != 200 {
		t.Errorf("signed in: status %d, want 200", got)
	}
	post("/logout", nil)
	if got := me(); got != 401 {
		t.Errorf("signed out again: status %d, want 401", got)
	}
}

// oneCookie is a jar for a site that has one cookie.
type oneCookie struct{ cookie *http.Cookie }

func (j *oneCookie) SetCookies(_ *url.URL, cookies []*http.Cookie) { j.cookie = cookies[0] }

func (j *oneCookie) Cookies(*url.URL) []*http.Cookie {
	if j.cookie == nil || j.cookie.MaxAge < 0 {
		return nil
	}
	return []*http.Cookie{j.cookie}
}

func TestTrouble(t *testing.T) {
	site := Site()
	res := ask(t, site, "GET", "/api/status/429?retryAfter=2", "", nil)
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "2" {
		t.Errorf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	text, _ := io.ReadAll(ask(t, site, "GET", "/api/big?bytes=100000", "", nil).Body)
	if len(text) != 100000 {
		t.Errorf("got %d bytes, want 100000", len(text))
	}
	for _, path := range []string{"/api/status/99", "/api/status/x", "/api/slow?ms=-1", "/api/slow",
		"/api/big?bytes=x"} {
		if res := ask(t, site, "GET", path, "", nil); res.StatusCode != 400 {
			t.Errorf("%s: status %d, want 400", path, res.StatusCode)
		}
	}
}

func TestSlowWaitsAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ask(t, Site(), "GET", "/api/slow?ms=1500", "", nil)
		if got := time.Since(start); got != 1500*time.Millisecond {
			t.Errorf("answered after %v, want 1.5s", got)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		Site().ServeHTTP(w, httptest.NewRequest("GET", "/api/slow?ms=60000", nil).WithContext(ctx))
		if w.Body.Len() != 0 {
			t.Errorf("a caller that went away was answered: %s", w.Body)
		}
	})
}

package relay

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A page may send with these, if it has a token.
	ownOrigins     = []string{"", "http://localhost:5173", "https://allowed.example"}
	foreignOrigins = []string{"https://example.com", "null", "file://", "http://127.0.0.1.example.com",
		"http://localhost@example.com", "https://allowed.example.com", "http://allowed.example",
		"chrome-extension://abcdefghijklmnopabcdefghijklmnop"}

	ownSites      = []string{"", "none", "same-origin"} // what a browser says by Sec-Fetch-Site
	foreignSites  = []string{"cross-site", "same-site"}
	unknownTokens = []string{"", "Bearer", "Bearer wrong", "Basic dDp0", "Bearer tabrelay_" + strings.Repeat("0", 64)}
)

// rule is the status that a request must have; 0 stands for none of 401 and 403.
func (m *matrix) rule(pattern string, f forgery) int {
	at := pattern[strings.IndexByte(pattern, ' ')+1:]
	taken := m.methods[at]
	who := keeperOf(pattern)
	// elsewhere, the token of this machine's own programs is good for nothing, and no page is one of this machine
	known := f.token == m.agent || f.token == m.person && m.remote == nil
	page := f.origin != "" && slices.Contains(ownOrigins, f.origin) && (m.remote == nil || f.origin == ownOrigins[2])
	switch {
	case slices.Contains(m.foreign, f.host) || who == browsers:
		return http.StatusForbidden
	case f.origin != "" && !page || f.origin == "" && slices.Contains(foreignSites, f.site):
		return http.StatusForbidden
	case !known && (who == attached || who == person || who == panels ||
		who == machines) &&
		(strings.HasPrefix(at, "/api/") || taken == nil || slices.Contains(taken, f.method)):
		return http.StatusUnauthorized
	case taken != nil && !slices.Contains(taken, f.method):
		return http.StatusMethodNotAllowed
	case who == panels || who == person && f.token == m.agent || who == machines && f.token == m.person:
		return http.StatusForbidden
	}
	return 0
}

var wildcard = regexp.MustCompile(`\{[a-z]+\}`)

// forgesAll is whether every sender sends. With the race detector those do that are told apart in what they reach: each
// route is called, and refused for each reason, but not with every spelling of a host or an origin that is refused.
var forgesAll bool

// senders are the ways to come: every host and origin by itself, and some of them together with everything else.
func (m *matrix) senders() (list []forgery) {
	if !forgesAll {
		return append(m.mixtures(m.hosts[0]), forgery{host: m.foreign[0], token: m.agent})
	}
	for _, host := range slices.Concat(m.hosts, m.foreign) {
		list = append(list, forgery{host: host, token: m.agent})
	}
	for _, origin := range slices.Concat(ownOrigins, foreignOrigins) {
		for _, site := range slices.Concat(ownSites, foreignSites) {
			list = append(list, forgery{host: m.hosts[0], origin: origin, site: site, token: m.agent})
		}
	}
	for _, token := range unknownTokens {
		list = append(list, forgery{host: m.hosts[0], token: token})
	}
	return append(list, m.mixtures(m.hosts[0], m.foreign[0])...)
}

// mixtures are hosts together with everything else.
func (m *matrix) mixtures(hosts ...string) (list []forgery) {
	for _, host := range hosts {
		for _, origin := range []string{"", ownOrigins[1], foreignOrigins[0]} {
			for _, site := range []string{"", foreignSites[0]} {
				for _, token := range []string{m.agent, m.person, "", unknownTokens[2]} {
					list = append(list, forgery{host: host, origin: origin, site: site, token: token})
				}
			}
		}
	}
	return list
}

// each calls do with every request of the matrix to a route.
func (m *matrix) each(pattern string, do func(forgery)) {
	method, at, ok := strings.Cut(pattern, " ")
	methods := []string{method, http.MethodOptions, http.MethodPatch, http.MethodHead}
	if !ok {
		at, methods = pattern, []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"}
	}
	for _, f := range m.senders() {
		for _, f.method = range methods {
			f.path = wildcard.ReplaceAllString(at, "x1")
			do(f)
		}
	}
}

// TestForgedRequests sends every combination of what can be forged to every route there is, and compares each answer
// with what one rule says.
func TestForgedRequests(t *testing.T) { tryForgedRequests(t, newMatrix(t)) }

// TestForgedRequestsFromElsewhere is the same table at the door that other machines come to.
func TestForgedRequestsFromElsewhere(t *testing.T) { tryForgedRequests(t, newMatrixElsewhere(t)) }

// TestTokensOverTheSocket sends to every route, over the socket that makes whoever sends nothing else the person, what
// says that it is somebody else's. It is held to that, as over the port: nothing becomes the person's.
func TestTokensOverTheSocket(t *testing.T) {
	m := newMatrix(t)
	for _, pattern := range m.routes {
		for _, token := range append(slices.Clone(unknownTokens[1:]), m.agent) {
			method, at, ok := strings.Cut(pattern, " ")
			if !ok {
				method, at = http.MethodGet, pattern
			}
			f := forgery{host: m.hosts[0], token: token, method: method, socket: true,
				path: wildcard.ReplaceAllString(at, "x1")}
			want := m.rule(pattern, f)
			w := m.send(f)
			if refused := w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden; w.Code != want &&
				(want != 0 || refused) {
				t.Errorf("%+v: %d instead of %d: %s", f, w.Code, want, w.Body)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut} { // and without, it is the person's
		w := m.send(forgery{host: m.hosts[0], method: method, path: "/api/v1/paused", socket: true})
		if w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
			t.Errorf("%s without a token: %d %s", method, w.Code, w.Body)
		}
	}
}

func tryForgedRequests(t *testing.T, m *matrix) {
	for _, pattern := range m.routes {
		t.Run(strings.ReplaceAll(strings.ReplaceAll(pattern, "/", "_"), " ", ""), func(t *testing.T) {
			bodies := map[int]map[string]bool{}
			m.each(pattern, func(f forgery) {
				want := m.rule(pattern, f)
				if want == 0 && f.token == m.person && keeperOf(pattern) == person && f.method != http.MethodGet {
					return // it would be done
				}
				w := m.send(f)
				if refused := w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden; w.Code != want &&
					(want != 0 || refused) {
					t.Errorf("%+v: %d instead of %d: %s", f, w.Code, want, w.Body)
				}
				if want == http.StatusUnauthorized {
					if bodies[want] == nil {
						bodies[want] = map[string]bool{}
					}
					bodies[want][w.Body.String()] = true
				}
			})
			if len(bodies[http.StatusUnauthorized]) > 1 {
				t.Errorf("refusals differ: %v", bodies)
			}
		})
	}
}

// TestRefusalsTellNothing compares what the guard refuses senders without a token with: whatever path they ask for, and
// whether or not they have a token, every byte is the same.
func TestRefusalsTellNothing(t *testing.T) {
	for _, m := range []*matrix{newMatrix(t), newMatrixElsewhere(t)} {
		compareRefusals(t, m)
	}
}

func compareRefusals(t *testing.T, m *matrix) {
	for name, f := range map[string]forgery{
		"host": {host: "relay.example"}, "origin": {host: m.hosts[0], origin: "https://example.com"},
		"site":  {host: m.hosts[0], site: "cross-site"},
		"token": {host: m.hosts[0]},
	} {
		seen := map[string]bool{}
		for _, pattern := range m.routes {
			if who := keeperOf(pattern); who == browsers || who == anyone && name == "token" {
				continue
			}
			method, at, ok := strings.Cut(pattern, " ")
			if !ok {
				method, at = http.MethodPost, pattern
			}
			for _, token := range append([]string{m.agent, m.person}, unknownTokens...) {
				if known := token == m.agent || token == m.person; known && name == "token" {
					continue
				}
				f.method, f.path, f.token = method, wildcard.ReplaceAllString(at, "x1"), token
				w := m.send(f)
				seen[http.StatusText(w.Code)+w.Body.String()] = true
			}
		}
		if len(seen) != 1 {
			t.Errorf("a wrong %s is refused in %d ways: %v", name, len(seen), slices.Collect(maps.Keys(seen)))
		}
	}
}

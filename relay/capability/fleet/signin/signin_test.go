package signin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"tabrelay/relay/road/call"
)

const resource = "https://agents.example.org/mcp"

// issuer is a provider with one key at a time.
type issuer struct {
	t      *testing.T
	server *httptest.Server
	key    atomic.Pointer[jose.JSONWebKey]
	asked  atomic.Int32
	down   atomic.Bool
	oauth  bool // it describes itself by RFC 8414 only

	garbled atomic.Bool // it answers with a page in the place of its keys
	keysAt  atomic.Value
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t}
	i.keysAt.Store("/keys")
	mux := http.NewServeMux()
	describe := func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.server.URL,
			"jwks_uri": i.server.URL + i.keysAt.Load().(string)})
	}
	mux.HandleFunc("/.well-known/oauth-authorization-server", describe)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		if i.oauth {
			http.NotFound(w, r)
			return
		}
		describe(w, r)
	})
	mux.HandleFunc("/{keys}", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != i.keysAt.Load() {
			http.NotFound(w, r)
			return
		}
		if i.garbled.Load() {
			_, _ = io.WriteString(w, "<title>maintenance</title>")
			return
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Load().Public()}})
	})
	i.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		if i.down.Load() {
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.server.Close)
	i.rotate("first")
	return i
}

func (i *issuer) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.key.Store(&jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"})
}

// claims are those of a good token.
func (i *issuer) claims() map[string]any {
	return map[string]any{"iss": i.server.URL, "aud": resource, "sub": "carol", "client_id": "codex",
		"scope": "openid tabrelay", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
}

func (i *issuer) token(change func(claims map[string]any)) string {
	claims := i.claims()
	change(claims)
	return sign(i.t, jose.SigningKey{Algorithm: jose.ES256, Key: i.key.Load()}, "at+jwt", claims)
}

func sign(t *testing.T, key jose.SigningKey, kind jose.ContentType, claims map[string]any) string {
	t.Helper()
	return signWith(t, key, (&jose.SignerOptions{}).WithType(kind), claims)
}

func signWith(t *testing.T, key jose.SigningKey, options *jose.SignerOptions, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (i *issuer) verifier(change func(*Options)) *Verifier {
	o := Options{Issuer: i.server.URL, Resource: resource, Person: "sub",
		Scopes: []Scope{{Scope: "tabrelay"}, {Scope: "tabrelay:read", ReadOnly: true},
			{Scope: "wiki", Plugins: "mediawiki"}},
		People: map[string]string{"auth0|7": "dave", "frank": "frank"},
		Agents: map[string]string{"https://claude.example/client.json": "claude"}, Taken: []string{"operator"},
		IsClient: func(name string) bool { return name == "laptop" }}
	change(&o)
	return New(o, http.DefaultTransport)
}

func same(map[string]any) {}

func as(claim string, value any) func(map[string]any) {
	return func(c map[string]any) { c[claim] = value }
}

// What a token says is who calls and what is covered.
func TestATokenSaysWhoCalls(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier(func(*Options) {})
	byMail := i.verifier(func(o *Options) {
		o.Person, o.Domain, o.People = "email", "example.org", map[string]string{"Lee@other.example": "lee.other"}
	})
	for what, c := range map[string]struct {
		v             *Verifier
		change        func(map[string]any)
		person, agent string
		scope         call.Scope
	}{
		"as it is":               {v, same, "carol", "codex", call.Scope{}},
		"a person with a name":   {v, as("sub", "auth0|7"), "dave", "codex", call.Scope{}},
		"a name given to itself": {v, as("sub", "frank"), "frank", "codex", call.Scope{}},
		"several audiences": {v, as("aud", []string{"https://other.example", resource}), "carol", "codex",
			call.Scope{}},
		"azp": {v, func(c map[string]any) { delete(c, "client_id"); c["azp"] = "gemini" }, "carol",
			"gemini", call.Scope{}},
		"read only": {v, as("scope", "tabrelay:read wiki"), "carol", "codex",
			call.Scope{ReadOnly: true}},
		"the wider one comes first": {v, as("scope", "wiki tabrelay"), "carol", "codex", call.Scope{}},
		"scopes as a list": {v, func(c map[string]any) { delete(c, "scope"); c["scp"] = []string{"wiki"} }, "carol",
			"codex", call.Scope{Plugins: "mediawiki"}},
		"a known document": {v, as("client_id", "https://claude.example/client.json"), "carol", "claude", call.Scope{}},
		"another document of its host": {v, as("client_id", "https://claude.example/other.json"), "carol",
			"claude.example-", call.Scope{}},
		"a client called as one with a token": {v, as("client_id", "laptop"), "carol", "client-", call.Scope{}},
		"a client called as a known one":      {v, as("client_id", "claude"), "carol", "client-", call.Scope{}},
		"one called as a derived name": {v, as("client_id", "claude.example-0123456789abcdef"), "carol", "client-",
			call.Scope{}},
		"an address": {byMail, func(c map[string]any) { c["email"], c["email_verified"] = "Ann.Lee@example.org", true },
			"ann.lee", "codex", call.Scope{}},
		"an address that says so in words": {byMail, func(c map[string]any) {
			c["email"], c["email_verified"] = "ann@example.org", "true"
		}, "ann", "codex", call.Scope{}},
		"an address with a name": {byMail, func(c map[string]any) {
			c["email"], c["email_verified"] = "Lee@Other.example", true
		}, "lee.other", "codex", call.Scope{}},
		"what the address says is of no use": {v, as("email_verified", "perhaps"), "carol", "codex", call.Scope{}},
	} {
		id, err := c.v.Verify(t.Context(), i.token(c.change))
		whole := !strings.HasSuffix(c.agent, "-")
		if err != nil || id.Person != c.person || id.Scope != c.scope || whole && id.Agent != c.agent ||
			!whole && (!strings.HasPrefix(id.Agent, c.agent) || len(id.Agent) != len(c.agent)+16) {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
}

// Tokens that are forged, stale, of somebody else or for something else are refused, with the reason.
func TestTokensThatAreRefused(t *testing.T) {
	i := newIssuer(t)
	v, byMail := func(*Options) {}, func(o *Options) { o.Person, o.Domain = "email", "example.org" }
	stranger := newIssuer(t)
	strange, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(i.key.Load().Key.(*ecdsa.PrivateKey).Public())
	if err != nil {
		t.Fatal(err)
	}
	good := i.token(same)
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	raw := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	without := func(claim string) string { return i.token(func(c map[string]any) { delete(c, claim) }) }
	for what, c := range map[string]struct {
		v     func(*Options)
		token string
		kind  Kind
		says  string
	}{
		"no algorithm":       {v, raw(`{"alg":"none","typ":"JWT"}`) + "." + body + ".", Invalid, "algorithm"},
		"its signature gone": {v, head + "." + body + ".", Invalid, "signature"},
		"other claims":       {v, head + "." + raw(`{"iss":"x"}`) + "." + signature, Invalid, "signature"},
		"the key as a secret": {v, sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: public}, "JWT", i.claims()),
			Invalid, "algorithm"},
		"another key": {v, sign(t, jose.SigningKey{Algorithm: jose.RS256,
			Key: jose.JSONWebKey{Key: crypto.PrivateKey(strange), KeyID: "first"}}, "JWT", i.claims()),
			Invalid, "signature"},
		"a key that it brings": {v, embedded(t, i.claims()), Invalid, "signature"},
		"another issuer":       {v, stranger.token(as("iss", i.server.URL)), Invalid, "signature"},
		"in another's name":    {v, i.token(as("iss", "https://evil.example")), Invalid, "different provider"},
		"for another resource": {v, i.token(as("aud", "https://other.example/mcp")), Invalid, "audience"},
		"for a longer address": {v, i.token(as("aud", resource+"/")), Invalid, "audience"},
		"for the client":       {v, i.token(as("aud", "codex")), Invalid, "audience"},
		"for nobody":           {v, without("aud"), Invalid, "audience"},
		"expired":              {v, i.token(as("exp", time.Now().Add(-time.Second).Unix())), Invalid, "expired"},
		"without an end":       {v, without("exp"), Invalid, "expired"},
		"not yet":              {v, i.token(as("nbf", time.Now().Add(time.Hour).Unix())), Invalid, "not before"},
		"bound to a key":       {v, i.token(as("cnf", map[string]string{"jkt": "x"})), Invalid, "cnf"},
		"to end a session": {v, sign(t, jose.SigningKey{Algorithm: jose.ES256, Key: i.key.Load()}, "logout+jwt",
			i.claims()), Invalid, "logout+jwt"},
		"no scope":         {v, without("scope"), Uncovered, "tabrelay, tabrelay:read, wiki"},
		"other scopes":     {v, i.token(as("scope", "openid tabrelay:readall")), Uncovered, "none of the scopes"},
		"no person":        {v, without("sub"), Invalid, "claim sub"},
		"a person as list": {v, i.token(as("sub", []string{"carol"})), Invalid, "sub"},
		"no name":          {v, i.token(as("sub", "carol@team")), Unnamed, "carol@team"},
		"a path":           {v, i.token(as("sub", "carol/claude")), Unnamed, "carol/claude"},
		"another's name":   {v, i.token(as("sub", "dave")), Unnamed, "dave"},
		"the operator":     {v, i.token(as("sub", "operator")), Unnamed, "operator"},
		"no client":        {v, without("client_id"), Invalid, "client_id"},
		"an unproven mail": {byMail, i.token(as("email", "ann@example.org")), Invalid, "email_verified"},
		"a foreign address": {byMail, i.token(func(c map[string]any) {
			c["email"], c["email_verified"] = "ann@evil.example", true
		}), Unnamed, "ann@evil.example"},
		"an address without a domain": {byMail, i.token(func(c map[string]any) {
			c["email"], c["email_verified"] = "ann", true
		}), Unnamed, "ann"},
		"a letter that is k in lower case": {byMail, i.token(func(c map[string]any) {
			c["email"], c["email_verified"] = "\u212aate@example.org", true
		}), Unnamed, "example.org"},
		"a client for itself": {v, i.token(as("sub", "codex")), Unnamed, "codex"},
		"too long":            {v, good + strings.Repeat("a", maxToken), Invalid, "bytes"},
		"no token":            {v, "a.b.c", Invalid, "signed token"},
	} {
		id, err := i.verifier(c.v).Verify(t.Context(), c.token) // which asks for the keys anew
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Kind != c.kind || !strings.Contains(refused.Text, c.says) {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
}

// embedded is a token with the key that signed it in its header.
func embedded(t *testing.T, claims map[string]any) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signWith(t, jose.SigningKey{Algorithm: jose.ES256, Key: key}, &jose.SignerOptions{EmbedJWK: true}, claims)
}

// A provider that is away, moves or rotates its keys, or answers badly. Strangers cannot have it asked often, nor keep
// others from being told that their tokens do not hold.
func TestTheProvider(t *testing.T) {
	i := newIssuer(t)
	i.oauth = true
	v := i.verifier(func(*Options) {})
	i.down.Store(true)
	kind := func(token string) (Kind, error) {
		_, err := v.Verify(t.Context(), token)
		var refused *RefusedError
		if !errors.As(err, &refused) {
			return -1, err
		}
		return refused.Kind, err
	}
	if got, err := kind(i.token(same)); got != Away || !strings.Contains(err.(*RefusedError).Next, i.server.URL) {
		t.Fatalf("away: %v", err)
	}
	i.down.Store(false)
	var together sync.WaitGroup
	for range 20 {
		together.Go(func() {
			if _, err := v.Verify(t.Context(), i.token(same)); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	old, asked := i.token(same), i.asked.Load()
	for range 100 {
		if _, err := v.Verify(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	if now := i.asked.Load(); now != asked {
		t.Errorf("for tokens with a known key it was asked %d times", now-asked)
	}
	stranger := newIssuer(t)
	stranger.rotate("unknown")
	for range 100 {
		if got, err := kind(stranger.token(as("iss", i.server.URL))); got != Invalid {
			t.Fatalf("a stranger's token: %v", err)
		}
	}
	if now := i.asked.Load(); now > asked+firstTimes {
		t.Errorf("tokens of strangers had it asked %d times", now-asked)
	}

	i = newIssuer(t)
	v = i.verifier(func(*Options) {})
	if _, err := v.Verify(t.Context(), i.token(same)); err != nil {
		t.Fatal(err)
	}
	i.rotate("second")
	if _, err := v.Verify(t.Context(), i.token(same)); err != nil {
		t.Errorf("with another key: %v", err)
	}
	i.rotate("third")
	i.garbled.Store(true)
	if got, err := kind(i.token(same)); got != Away || strings.Contains(err.Error(), "maintenance") {
		t.Errorf("an answer without keys: %v", err)
	}
	i.garbled.Store(false)

	v = i.verifier(func(*Options) {})
	if _, err := v.Verify(t.Context(), i.token(same)); err != nil {
		t.Fatal(err)
	}
	i.keysAt.Store("/moved")
	i.rotate("fourth")
	if got, err := kind(i.token(same)); got != Away {
		t.Errorf("keys that are not there any more: %v", err)
	}
	if _, err := v.Verify(t.Context(), i.token(same)); err != nil {
		t.Errorf("keys that are elsewhere now: %v", err)
	}
	v = i.verifier(func(o *Options) { o.Issuer += "/tenant" })
	if got, err := kind(i.token(same)); got != Away {
		t.Errorf("a provider that is not there: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"https://login.example.org/realms/team": true, "http://127.0.0.1:9/mcp": true, "http://localhost:9": true,
		"http://login.example.org": false, "https://a.example/?x=1": false, "https://a.example/#x": false,
		"https://ann@a.example": false, "login.example.org": false, "": false, "https://": false,
		"https://a.example/\"x": false, "file:///etc/passwd": false, "http://[::1]:1/mcp": true,
	} {
		if got := CheckAddress(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	for resource, want := range map[string]string{
		resource:                     "https://agents.example.org/.well-known/oauth-protected-resource/mcp",
		"https://agents.example.org": "https://agents.example.org/.well-known/oauth-protected-resource",
	} {
		if got := New(Options{Resource: resource}, nil).MetadataURL(); got != want {
			t.Errorf("%s: %s", resource, got)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		v := New(Options{Issuer: "http://127.0.0.1:1", Resource: resource, Person: "sub"}, http.DefaultTransport)
		if id, err := v.Verify(t.Context(), token); err == nil {
			t.Errorf("%+v", id)
		}
	})
}

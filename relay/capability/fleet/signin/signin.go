// Package signin lets people who have signed in with an OpenID Connect provider use a gateway: it checks the access
// tokens that the provider issues for the gateway, and says who a token speaks for and what it covers. The gateway is
// the resource server of the MCP authorization specification (https://modelcontextprotocol.io/specification, section
// Authorization); signing in itself is between the client and the provider.
package signin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/rs/zerolog"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Options is what the settings say about signing in.
type Options struct {
	Issuer   string // of tokens, exactly as their claim iss has it
	Resource string // the address of the gateway, exactly as the claim aud of its tokens has it
	Person   string // the claim that names the person
	Domain   string // of addresses whose first part is the person's name, where the claim is email
	People   map[string]string
	Agents   map[string]string      // by the identifier of an OAuth client
	Scopes   []Scope                // the first one that a token has says what it covers
	Taken    []string               // names of people that a claim alone does not give
	IsClient func(name string) bool // whether a client that does not sign in has this name; nil: there is none
	Log      zerolog.Logger
}

// Scope is a scope of OAuth, and what clients with it may see and call at the most.
type Scope struct {
	Scope    string `json:"scope"`
	Toolset  string `json:"toolset,omitempty"`
	Plugins  string `json:"plugins,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Identity is who an access token speaks for.
type Identity struct {
	Person  string
	Agent   string
	Scope   call.Scope
	Expires time.Time
}

// Kind is why a token is refused.
type Kind int

// The kinds.
const (
	Invalid   Kind = iota // it is no token for this gateway that holds now
	Uncovered             // it has none of the scopes that are needed
	Unnamed               // the gateway has no name for the person
	Away                  // the provider cannot be asked for its keys
)

// RefusedError says why a token is refused.
type RefusedError struct {
	Kind Kind
	Text string // without a full stop
	Next string // a sentence: what can be done
}

func (e *RefusedError) Error() string { return e.Text }

const (
	// maxToken bounds a token, in bytes.
	maxToken = 16 << 10
	// maxClaim bounds the claims that name somebody, in bytes.
	maxClaim = 512
)

// algorithms are those whose keys a provider publishes. A secret that is shared with it, and none, are not among them.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256,
	oidc.PS384, oidc.PS512, oidc.EdDSA}

// types are what access tokens call themselves. Others are for something else, for example to end sessions.
var types = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// Verifier checks access tokens.
type Verifier struct {
	Options
	provider *provider
	taken    map[string]bool
	agents   map[string]bool
}

// New returns a verifier. The provider is asked when the first token comes.
func New(o Options, transport http.RoundTripper) *Verifier {
	v := &Verifier{Options: o, provider: newProvider(o.Issuer, o.Resource, transport, o.Log), taken: map[string]bool{},
		agents: map[string]bool{}}
	if o.Person == byEmail { // addresses are looked up in lower case
		v.People = make(map[string]string, len(o.People))
		for address, name := range o.People {
			v.People[strings.Map(lower, address)] = name
		}
	}
	for _, name := range append(slices.Collect(maps.Values(o.People)), o.Taken...) {
		v.taken[name] = true
	}
	for name := range maps.Values(o.Agents) {
		v.agents[name] = true
	}
	return v
}

// IsToken reports whether a text has the form of a token that a provider signs.
func IsToken(text string) bool { return strings.Count(text, ".") == 2 }

// claims are what a token says besides what go-oidc checks.
type claims struct {
	Client        string          `json:"client_id"`
	Authorized    string          `json:"azp"`
	Scope         json.RawMessage `json:"scope"`
	ScopeList     json.RawMessage `json:"scp"`
	Confirmation  json.RawMessage `json:"cnf"`
	EmailVerified json.RawMessage `json:"email_verified"`
}

// Verify says who a token speaks for. Its error is a [RefusedError].
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	if err := checkForm(token); err != nil {
		return Identity{}, err
	}
	checked, err := v.provider.verify(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	var c claims
	var all map[string]json.RawMessage
	if err := errors.Join(checked.Claims(&c), checked.Claims(&all)); err != nil {
		return Identity{}, invalid("its claims cannot be read", "")
	}
	if len(c.Confirmation) > 0 {
		return Identity{}, invalid("it is bound to a key of its client (cnf), which is not checked here",
			"Have the provider issue bearer tokens to this client.")
	}
	id := Identity{Expires: checked.Expiry}
	if id.Scope, err = v.covered(c); err != nil {
		return Identity{}, err
	}
	client := cmp.Or(c.Client, c.Authorized)
	if id.Agent, err = v.agent(client); err != nil {
		return Identity{}, err
	}
	id.Person, err = v.person(all, string(c.EmailVerified), client)
	return id, err
}

func invalid(why, next string) *RefusedError {
	return &RefusedError{Invalid, "The access token is refused: " + why, next}
}

// checkForm refuses what is no signed access token, before a key is asked for.
func checkForm(token string) error {
	if len(token) > maxToken {
		return invalid(fmt.Sprintf("it has more than %d bytes", maxToken), "")
	}
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		Type string `json:"typ"`
	}
	if err != nil || json.Unmarshal(text, &header) != nil {
		return invalid("it is no signed token (JWT)", "")
	}
	if !slices.Contains(types, strings.ToLower(header.Type)) {
		return invalid("it is no access token but "+fault.Excerpt(header.Type), "")
	}
	return nil
}

// covered is what a token covers: of its scopes the one that the settings name first.
func (v *Verifier) covered(c claims) (call.Scope, error) {
	has := append(words(c.Scope), words(c.ScopeList)...)
	for _, s := range v.Scopes {
		if slices.Contains(has, s.Scope) {
			return call.Scope{Toolset: s.Toolset, Plugins: s.Plugins, ReadOnly: s.ReadOnly}, nil
		}
	}
	return call.Scope{}, &RefusedError{Uncovered, "The access token has none of the scopes " +
		strings.Join(v.ScopeNames(), ", "), "Have the client ask the person for one of them."}
}

// ScopeNames are the scopes that mean something here.
func (v *Verifier) ScopeNames() (names []string) {
	for _, s := range v.Scopes {
		names = append(names, s.Scope)
	}
	return names
}

// words reads a claim that is a text of words, or a list of them.
func words(claim json.RawMessage) (list []string) {
	var text string
	if json.Unmarshal(claim, &text) == nil {
		return strings.Fields(text)
	}
	if json.Unmarshal(claim, &list) != nil {
		return nil // it says nothing that can be understood
	}
	return list
}

// byEmail is the claim that is an address.
const byEmail = "email"

// person is the name of the person whom a claim names. A name that the settings give to somebody is nobody else's.
func (v *Verifier) person(all map[string]json.RawMessage, emailVerified, client string) (string, error) {
	var value string
	if json.Unmarshal(all[v.Person], &value) != nil || value == "" || len(value) > maxClaim {
		return "", invalid("its claim "+v.Person+", which names the person, is missing",
			"Have the provider put it into access tokens, or name another claim in fleet.gateway.signIn.person.")
	}
	if v.Person == byEmail {
		if emailVerified != "true" && emailVerified != `"true"` {
			return "", invalid("the provider does not say that the person's address is verified (email_verified)", "")
		}
		value = strings.Map(lower, value)
	}
	if name, ok := v.People[value]; ok {
		return name, nil
	}
	name := value
	if v.Person == byEmail && v.Domain != "" {
		name, _ = strings.CutSuffix(value, "@"+v.Domain)
		if name == value {
			name = "" // of another domain, or of none
		}
	}
	// A token that a client has got for itself names the client where others name a person: RFC 9068, section 5.
	if !wire.IsAgent(name) || v.taken[name] || value == client {
		return "", &RefusedError{Unnamed, "This gateway has no name for the person " + fault.Excerpt(value),
			"Whoever runs it gives one in fleet.gateway.signIn.people."}
	}
	return name, nil
}

// lower leaves letters beyond ASCII as they are: some have a lower case that is another letter's.
func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// derived is the form of a name that agent makes.
var derived = regexp.MustCompile(`-[0-9a-f]{16}$`)

// agent is the name of the OAuth client. One whose identifier is no name, such as the address of a Client ID Metadata
// Document, is called after its host, with a part of the identifier's hash.
func (v *Verifier) agent(id string) (string, error) {
	if id == "" || len(id) > maxClaim {
		return "", invalid("it does not say for which client it is (client_id or azp)", "")
	}
	if name, ok := v.Agents[id]; ok {
		return name, nil
	}
	if wire.IsAgent(id) && !v.agents[id] && !derived.MatchString(id) && (v.IsClient == nil || !v.IsClient(id)) {
		return id, nil
	}
	base := "client"
	if u, err := url.Parse(id); err == nil && len(u.Hostname()) <= 40 && wire.IsAgent(u.Hostname()) {
		base = u.Hostname()
	}
	sum := sha256.Sum256([]byte(id))
	return base + "-" + hex.EncodeToString(sum[:8]), nil
}

// Metadata is what a client is told about how to get a token: RFC 9728, section 2.
type Metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`
}

// Metadata returns what clients are told.
func (v *Verifier) Metadata() Metadata {
	return Metadata{v.Resource, []string{v.Issuer}, v.ScopeNames(), []string{"header"}, "tabrelay"}
}

// RootMetadataPath is where a resource at the root of its host says how to get a token. One at a path appends that.
const RootMetadataPath = "/.well-known/oauth-protected-resource"

// MetadataPath is where the metadata of this resource is, on its host.
func (v *Verifier) MetadataPath() string {
	u, err := url.Parse(v.Resource)
	if err != nil {
		return RootMetadataPath // CheckAddress has refused it
	}
	return RootMetadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}

// MetadataURL is where the metadata of this resource is.
func (v *Verifier) MetadataURL() string {
	u, err := url.Parse(v.Resource)
	if err != nil {
		return "" // CheckAddress has refused it
	}
	return u.Scheme + "://" + u.Host + v.MetadataPath()
}

// CheckAddress reports whether a text can be an issuer or a resource: https, or http on this machine, without a query.
func CheckAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		!strings.ContainsAny(text, "\"\\ ?#{}") && (u.Scheme == "https" || u.Scheme == "http" && isHere(u))
}

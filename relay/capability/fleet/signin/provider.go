package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

const (
	// askTime is how long the provider has for one answer.
	askTime = 5 * time.Second
	// maxAnswer bounds an answer of the provider, in bytes.
	maxAnswer = 1 << 20
	// askEvery is how often the provider is asked for its keys at the most, after the first few times, whatever tokens
	// come: go-oidc asks with each token that the known ones have not signed.
	askEvery   = 5 * time.Second
	firstTimes = 4
)

// provider is the OpenID Connect provider, or another OAuth server that signs its access tokens and says where its keys
// are.
type provider struct {
	issuer, resource string
	client           *http.Client
	transport        http.RoundTripper
	log              zerolog.Logger
	finding          singleflight.Group // of where the keys are
	finds, fetches   *rate.Limiter

	mu   lock.Mutex         // guards the rest; nothing nests in it
	keys *oidc.RemoteKeySet // nil: the provider has not said where its keys are
	good bool               // the last answer with keys was one
}

func newProvider(issuer, resource string, transport http.RoundTripper, log zerolog.Logger) *provider {
	limiter := func() *rate.Limiter { return rate.NewLimiter(rate.Every(askEvery), firstTimes) }
	p := &provider{issuer: issuer, resource: resource, transport: transport, log: log, finds: limiter(),
		fetches: limiter()}
	p.client = p.clientOver(transport)
	return p
}

func (p *provider) clientOver(transport http.RoundTripper) *http.Client {
	return &http.Client{Timeout: askTime, Transport: transport, CheckRedirect: checkRedirect}
}

// verify checks signature, issuer, audience and times of a token.
func (p *provider) verify(ctx context.Context, token string) (*oidc.IDToken, error) {
	keys, err := p.keySet(ctx)
	if err != nil {
		return nil, p.away(err)
	}
	signature := &signature{RemoteKeySet: keys}
	checked, err := oidc.NewVerifier(p.issuer, signature,
		&oidc.Config{ClientID: p.resource, SupportedSigningAlgs: algorithms}).Verify(ctx, token)
	var expired *oidc.TokenExpiredError
	switch {
	case err == nil:
		return checked, nil
	case errors.Is(signature.err, errAskedLately) && p.answers():
		return nil, invalid("no key of the provider has signed it", "Get a new one.")
	case signature.err != nil && strings.HasPrefix(signature.err.Error(), noKeys):
		return nil, p.away(signature.err)
	case errors.As(err, &expired):
		return nil, invalid("it has expired", "Get a new one.")
	}
	return nil, invalid(fault.Sanitize(strings.TrimPrefix(err.Error(), "oidc: ")), "")
}

// noKeys is how go-oidc begins the error of a signature for which it could not get keys.
const noKeys = "fetching keys "

// signature keeps why a signature could not be checked: go-oidc passes on the words of that error, and not the error.
type signature struct {
	*oidc.RemoteKeySet
	err error
}

// VerifySignature implements oidc.KeySet.
func (s *signature) VerifySignature(ctx context.Context, jwt string) (payload []byte, err error) {
	payload, s.err = s.RemoteKeySet.VerifySignature(ctx, jwt)
	return payload, s.err
}

// answers reports whether the provider has answered with its keys when it was asked last.
func (p *provider) answers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.good
}

// keySet are the keys of the provider. It is asked where they are once, for all tokens that wait for that.
func (p *provider) keySet(ctx context.Context) (*oidc.RemoteKeySet, error) {
	p.mu.Lock()
	keys := p.keys
	p.mu.Unlock()
	if keys != nil {
		return keys, nil
	}
	found := p.finding.DoChan("", func() (any, error) { return p.find() })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-found:
		keys, _ = r.Val.(*oidc.RemoteKeySet)
		return keys, r.Err
	}
}

func (p *provider) find() (*oidc.RemoteKeySet, error) {
	p.mu.Lock()
	keys := p.keys
	p.mu.Unlock()
	if keys != nil {
		return keys, nil
	}
	if !p.finds.Allow() {
		return nil, errAskedLately
	}
	address, err := p.keysAddress(context.Background())
	if err != nil {
		return nil, err
	}
	ctx := oidc.ClientContext(context.Background(), p.clientOver(&fetching{p}))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = oidc.NewRemoteKeySet(ctx, address)
	return p.keys, nil
}

// away is the refusal of a token that cannot be checked. What the provider has answered is for the log alone.
func (p *provider) away(err error) error {
	if !errors.Is(err, errAskedLately) {
		p.log.Warn().Str("issuer", p.issuer).Str("reason", fault.Sanitize(err.Error())).
			Msg("access tokens cannot be checked")
	}
	return &RefusedError{Away, "Access tokens cannot be checked: the provider does not say its keys",
		"Try again in a moment. If it stays so, whoever runs the gateway looks into its log, and whether " + p.issuer +
			" can be reached from it."}
}

// keysAddress asks where the keys are: by OpenID Connect Discovery, or else by RFC 8414.
func (p *provider) keysAddress(ctx context.Context) (address string, err error) {
	u, err := url.Parse(p.issuer)
	if err != nil {
		return "", err
	}
	oauth := u.Scheme + "://" + u.Host + "/.well-known/oauth-authorization-server" + strings.TrimSuffix(u.Path, "/")
	for _, at := range []string{strings.TrimSuffix(p.issuer, "/") + "/.well-known/openid-configuration", oauth} {
		var found bool
		if address, found, err = p.discover(ctx, at); found || err != nil {
			return address, err
		}
	}
	return "", fmt.Errorf("%s does not say where its keys are", p.issuer)
}

// discover reads one of the documents in which a provider describes itself; found is false if it has none there.
func (p *provider) discover(ctx context.Context, at string) (keys string, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", false, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return "", false, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound:
		return "", false, nil
	case res.StatusCode != http.StatusOK:
		return "", false, fmt.Errorf("%s answers with status %d", at, res.StatusCode)
	}
	var said struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&said); err != nil {
		return "", false, fmt.Errorf("%s is no document of a provider: %w", at, err)
	}
	if said.Issuer != p.issuer {
		return "", false, fmt.Errorf("%s is of the issuer %s, not %s", at, fault.Excerpt(said.Issuer), p.issuer)
	}
	if !CheckAddress(strings.SplitN(said.Keys, "?", 2)[0]) {
		return "", false, fmt.Errorf("%s does not say where the keys are (jwks_uri)", at)
	}
	return said.Keys, true, nil
}

var errAskedLately = errors.New("the provider was asked a moment ago")

// fetching sends the requests for keys: not too many, and with answers that end.
type fetching struct{ provider *provider }

// RoundTrip implements http.RoundTripper.
func (f *fetching) RoundTrip(req *http.Request) (*http.Response, error) {
	p := f.provider
	if !p.fetches.Allow() {
		return nil, errAskedLately
	}
	res, err := p.transport.RoundTrip(req)
	p.mu.Lock()
	p.good = err == nil && res.StatusCode == http.StatusOK
	if err == nil && res.StatusCode == http.StatusNotFound {
		p.keys = nil // they may be elsewhere now
	}
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxAnswer), res.Body}
	return res, nil
}

// checkRedirect keeps what the provider answers as safe as its own address is.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 || req.URL.Scheme != via[0].URL.Scheme {
		return errors.New("the provider leads to another place")
	}
	return nil
}

// isHere reports whether an address is one of this machine.
func isHere(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

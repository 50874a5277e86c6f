package install

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
)

const (
	maxPackument = 32 << 20
	requestTime  = 2 * time.Minute
	maxName      = 214 // of npm
)

// nameForm is a package's name, with its scope.
var nameForm = lazyregexp.New(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// Spec is a package and which version of it: an exact one or a tag, latest when empty.
type Spec struct{ Name, Version string }

// ParseSpec reads NAME or NAME@VERSION.
func ParseSpec(text string) (Spec, error) {
	at := strings.LastIndexByte(text, '@')
	s := Spec{Name: text}
	if at > 0 {
		s = Spec{text[:at], text[at+1:]}
	}
	if !nameForm.MatchString(s.Name) || len(s.Name) > maxName {
		return s, fmt.Errorf("%q is neither a folder, nor a .tgz file, nor the name of a package", text)
	}
	if strings.ContainsAny(s.Version, "^~<>=*|& ") {
		return s, fmt.Errorf("%q is a range; name one version, or a tag such as latest", s.Version)
	}
	return s, nil
}

func (s Spec) String() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + "@" + s.Version
}

// Package is one version of a package, whose tarball has the content that its registry says.
type Package struct {
	Spec         Spec   // as asked for
	From         string // for the pin, where the spec does not say it
	Registry     string // that it is from, as nameOf says it; empty: from none
	Version      string // what that is
	Integrity    string // sha512-… (https://www.w3.org/TR/sri-2/)
	Dependencies map[string]string
	Tarball      []byte
}

// packument is what a registry says about a package
// (https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md).
type packument struct {
	Tags     map[string]string `json:"dist-tags"`
	Versions map[string]struct {
		Dependencies map[string]string `json:"dependencies"`
		Deprecated   any               `json:"deprecated"`
		Dist         struct {
			Tarball   string `json:"tarball"`
			Integrity string `json:"integrity"`
		} `json:"dist"`
	} `json:"versions"`
}

// Fetch gets a package from its registry and verifies it.
func (c *Config) Fetch(ctx context.Context, spec Spec) (*Package, error) {
	p, err := c.fetch(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("cannot fetch %s: %w", spec, err)
	}
	return p, nil
}

func (c *Config) fetch(ctx context.Context, spec Spec) (*Package, error) {
	base, err := c.registry(spec.Name)
	if err != nil {
		return nil, err
	}
	raw, err := c.get(ctx, request{from: base.JoinPath(url.PathEscape(spec.Name)),
		accept: "application/vnd.npm.install-v1+json", most: maxPackument, within: requestTime})
	if err != nil {
		return nil, err
	}
	var about packument
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, errors.New("the registry's answer is not JSON")
	}
	version := cmp.Or(spec.Version, "latest")
	if tagged, ok := about.Tags[version]; ok {
		version = tagged
	}
	found, ok := about.Versions[version]
	if !ok {
		var tags []string
		for tag := range about.Tags {
			tags = append(tags, tag)
		}
		slices.Sort(tags)
		return nil, fmt.Errorf("the registry has no version %q of it; its tags are: %s", version,
			oneLine(strings.Join(tags, ", ")))
	}
	sum, err := sha512Of(found.Dist.Integrity)
	if err != nil {
		return nil, err
	}
	from, err := base.Parse(found.Dist.Tarball)
	if err == nil {
		err = secure(from)
	}
	if err != nil {
		return nil, fmt.Errorf("the address of its tarball: %w", err)
	}
	tarball, err := c.get(ctx, request{from: from, accept: "*/*", most: maxTarball, within: requestTime})
	if err != nil {
		return nil, err
	}
	if got := sha512.Sum512(tarball); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("the tarball is not the one that the registry names: its SHA-512 is %s, and has to be "+
			"%s", base64.StdEncoding.EncodeToString(got[:]), base64.StdEncoding.EncodeToString(sum))
	}
	return &Package{Spec: spec, Registry: nameOf(base), Version: version, Integrity: integrityOf(tarball),
		Dependencies: found.Dependencies, Tarball: tarball}, nil
}

// sha512Of takes the one hash that counts out of an integrity value.
func sha512Of(integrity string) ([]byte, error) {
	for one := range strings.FieldsSeq(integrity) {
		text, ok := strings.CutPrefix(one, "sha512-")
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, "?")
		if sum, err := base64.StdEncoding.DecodeString(text); err == nil && len(sum) == sha512.Size {
			return sum, nil
		}
	}
	return nil, errors.New("there is no SHA-512 for it, so that its content cannot be verified")
}

func integrityOf(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// request is what a registry is asked for.
type request struct {
	from   *url.URL
	accept string
	most   int64 // bytes of the answer
	within time.Duration
	// sameHost refuses to be redirected to another host. Registries send on to others for packages, whose content is
	// verified; what a person searches for is meant for the one they named.
	sameHost bool
}

func (c *Config) get(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.from.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accept)
	c.authorize(req)
	client := http.Client{Transport: c.transport, CheckRedirect: c.redirected(r)}
	res, err := client.Do(req)
	if err != nil {
		return nil, r.unanswered(err)
	}
	defer res.Body.Close() // only read from
	if err := refusal(res.StatusCode); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, r.most+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the registry's answer did not end within %s", r.within)
	case err != nil:
		return nil, fmt.Errorf("the registry's answer ended early: %w", err)
	case int64(len(text)) > r.most:
		return nil, fmt.Errorf("the registry's answer has more than %d MiB", r.most>>20)
	}
	return text, nil
}

// authorize gives a request the secret for where it goes, and none that is for another place.
func (c *Config) authorize(req *http.Request) {
	req.Header.Del("Authorization")
	if token := c.token(req.URL); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
}

// redirected refuses what would not have been asked itself. A host elsewhere cannot have this machine's own services
// asked.
func (c *Config) redirected(r request) func(req *http.Request, via []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= 5:
			return errors.New("it is redirected too often")
		case r.sameHost && req.URL.Host != r.from.Host:
			return fault.Hinted(fmt.Errorf("it redirects to another host, %s", req.URL.Host),
				"if that is the registry you mean, name it with --registry URL")
		case isLoopback(req.URL) && !isLoopback(r.from):
			return fmt.Errorf("it redirects to this machine, %s, which is not allowed", req.URL.Host)
		}
		c.authorize(req)
		return secure(req.URL)
	}
}

// unanswered says why there is no answer, without the address: npm's configuration may hold a secret in it.
func (r request) unanswered(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the registry %s did not answer within %s", r.from.Host, r.within)
	}
	return fmt.Errorf("the registry %s did not answer: %w", r.from.Host, err)
}

var errUnknown = errors.New("the registry does not know it")

func refusal(status int) error {
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound:
		return errUnknown
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the registry refuses it with HTTP %d; npm login writes what it asks for into ~/.npmrc",
			status)
	case status >= 500 || status == http.StatusTooManyRequests:
		return fault.Hinted(fmt.Errorf("the registry answered with HTTP %d", status), "try again in a few minutes")
	}
	return fmt.Errorf("the registry answered with HTTP %d", status)
}

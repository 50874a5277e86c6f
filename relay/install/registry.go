package install

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxPackument = 32 << 20
	requestTime  = 2 * time.Minute
)

// nameForm is a package's name, with its scope.
var nameForm = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// Spec is a package and which version of it: an exact one or a tag, latest when empty.
type Spec struct{ Name, Version string }

// ParseSpec reads NAME or NAME@VERSION.
func ParseSpec(text string) (Spec, error) {
	at := strings.LastIndexByte(text, '@')
	s := Spec{Name: text}
	if at > 0 {
		s = Spec{text[:at], text[at+1:]}
	}
	if !nameForm.MatchString(s.Name) || len(s.Name) > 214 {
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
		return nil, fmt.Errorf("%s cannot be had: %w", spec, err)
	}
	return p, nil
}

func (c *Config) fetch(ctx context.Context, spec Spec) (*Package, error) {
	base, err := c.registry(spec.Name)
	if err != nil {
		return nil, err
	}
	raw, err := c.get(ctx, base.JoinPath(url.PathEscape(spec.Name)), "application/vnd.npm.install-v1+json",
		maxPackument)
	if err != nil {
		return nil, err
	}
	var about packument
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, errors.New("the registry's answer is not JSON")
	}
	version := spec.Version
	if version == "" {
		version = "latest"
	}
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
			strings.Join(tags, ", "))
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
	tarball, err := c.get(ctx, from, "*/*", maxTarball)
	if err != nil {
		return nil, err
	}
	if got := sha512.Sum512(tarball); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("the tarball is not the one that the registry names: its SHA-512 is %s, and has to be "+
			"%s", base64.StdEncoding.EncodeToString(got[:]), base64.StdEncoding.EncodeToString(sum))
	}
	return &Package{Spec: spec, Version: version, Integrity: integrityOf(tarball), Dependencies: found.Dependencies,
		Tarball: tarball}, nil
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
	return nil, errors.New("the registry gives no SHA-512 for it, so that its content cannot be verified")
}

func integrityOf(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (c *Config) get(ctx context.Context, from *url.URL, accept string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if token := c.token(from); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // which quotes an address that npm's configuration may hold a secret in
			err = failed.Err
		}
		return nil, fmt.Errorf("the registry %s did not answer: %w", from.Host, err)
	}
	defer res.Body.Close() // only read from
	switch {
	case res.StatusCode == http.StatusNotFound:
		return nil, errors.New("the registry does not know it")
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("the registry refuses it with HTTP %d; npm login writes what it asks for into ~/.npmrc",
			res.StatusCode)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the registry answered with HTTP %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("the registry's answer ended early: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, nil
}

// client follows no redirection to an address that would not have been asked itself.
var client = &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("it is redirected too often")
	}
	return secure(req.URL)
}}

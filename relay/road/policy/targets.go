package policy

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/fault"
)

// siteTarget is the target of a rule about one tool on one origin.
func siteTarget(tool, origin string) string { return tool + "@" + origin }

// splitTarget is the tool and the origin of a target as rules have it: both of one about a tool on an origin, the
// origin alone of one about that, and otherwise the target itself.
func splitTarget(target string) (tool, origin string) {
	if !strings.Contains(target, "://") {
		return target, ""
	}
	tool, origin, both := strings.Cut(target, "@")
	if !both {
		return "", target
	}
	return tool, origin
}

// Spelled is the one spelling of a target, whether or not it exists.
func Spelled(text string) string {
	if spelled, err := readTarget(text, nil); err == nil {
		return spelled
	}
	return text
}

// readTarget is the one spelling of what a rule is about: the default, an origin, a name that known knows, or the name
// of a tool and an origin. Its error is an [ErrTarget] with a suggestion.
func readTarget(text string, known func(string) (bool, string)) (string, error) {
	if text == Default || text == "all" || text == "*" {
		return Default, nil
	}
	tool, origin, both := strings.Cut(text, "@")
	switch both = both && !strings.Contains(tool, "://"); {
	case both:
		return readSiteTarget(tool, origin, known)
	case strings.Contains(text, "://"):
		return originTarget(text)
	}
	return knownTarget(text, known)
}

// readSiteTarget is the one spelling of a target of a tool and an origin.
func readSiteTarget(tool, origin string, known func(string) (bool, string)) (string, error) {
	if !strings.Contains(tool, "__") {
		return "", fmt.Errorf("%w: a rule for one site is about one tool, such as "+
			"mediawiki__edit_page@https://wiki.example.org, and %q is not one", ErrTarget, fault.Sanitize(tool))
	}
	tool, err := knownTarget(tool, known)
	if err != nil {
		return "", err
	}
	if origin, err = originTarget(origin); err != nil {
		return "", err
	}
	return siteTarget(tool, origin), nil
}

// knownTarget is a name that known knows; nil: any.
func knownTarget(text string, known func(string) (bool, string)) (string, error) {
	if known == nil {
		return text, nil
	}
	exists, suggestion := known(text)
	if exists {
		return text, nil
	}
	if suggestion != "" {
		suggestion = "; did you mean " + suggestion + "?"
	}
	return "", fmt.Errorf("%w: %q is neither a tool nor a plugin, nor an origin such as https://example.org, "+
		"nor default%s", ErrTarget, fault.Sanitize(text), suggestion)
}

// originTarget is an origin as browsers have it, and therefore rules: scheme, host and port, in lower case, other
// scripts as punycode, no port that is the scheme's own.
func originTarget(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsAny(u.Host, "* @") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", notOrigin(text)
	}
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	switch {
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	case strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }):
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", notOrigin(text)
		}
	}
	if port != "" && port != map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		host += ":" + port
	}
	origin := u.Scheme + "://" + host
	if read, err := match.Origin(origin); err != nil || read != origin { // such as a port with a zero before it
		return "", notOrigin(text)
	}
	return origin, nil
}

// isOrigin reports whether a rule can be about an origin, as a browser tells it.
func isOrigin(text string) bool {
	spelled, err := originTarget(text)
	return err == nil && spelled == text
}

func notOrigin(text string) error {
	return fmt.Errorf("%w: %q is not an origin, such as https://example.org or http://localhost:8080", ErrTarget,
		fault.Sanitize(text))
}

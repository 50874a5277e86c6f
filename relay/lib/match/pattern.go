// Package match reads URL match patterns, as browser extensions write them, and matches addresses against them.
// It is the only place that knows their grammar: the plugin builder checks them, the hub routes by them.
//
//	https://*.example.com/app/*     http://localhost:3000/*     *://[::1]:*/*
//
// The meaning is Chrome's: a pattern without a port matches every port, `*.host` matches host itself too, the path
// is matched against path and query, and the fragment never counts.
package match

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// maxLength of a pattern; real ones are far shorter, and matching costs pattern times address.
const maxLength = 1024

// Pattern is one parsed match pattern.
type Pattern struct {
	text       string
	scheme     string // "http", "https" or "*", which is both
	host       string // lower case, IPv6 without brackets; empty matches every host
	subdomains bool   // host and everything below it
	port       string // empty matches every port
	path       string // begins with / or *; * stands for any run of characters
}

// Parse reads one pattern. Its error is one sentence that says what is wrong with the pattern and how to write it.
func Parse(text string) (Pattern, error) {
	p := Pattern{text: text}
	if len(text) > maxLength {
		return p, fmt.Errorf("the pattern is longer than %d characters", maxLength)
	}
	if text == "<all_urls>" || text == "*" {
		return p, fmt.Errorf("%q matches every site; name the sites instead, such as https://*.example.com/*", text)
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return p, fmt.Errorf("%q has no scheme; write http://, https:// or *:// in front", text)
	}
	if scheme != "http" && scheme != "https" && scheme != "*" {
		return p, fmt.Errorf("%q has the scheme %q; only http, https and * can be used", text, scheme)
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return p, fmt.Errorf("%q has no path; end it with /* to match every page of the site", text)
	}
	p.scheme, p.path = scheme, rest[slash:]
	if err := p.parseHost(rest[:slash]); err != nil {
		return p, err
	}
	if strings.ContainsAny(p.path, "# \t\r\n") {
		return p, fmt.Errorf("%q has a fragment or a blank in its path; a page is matched by path and query only", text)
	}
	return p, nil
}

// parseHost reads `host`, `*.host` or `*`, each with an optional `:port`.
func (p *Pattern) parseHost(authority string) error {
	host, port, err := splitPort(authority)
	if err != nil {
		return fmt.Errorf("%q: %w", p.text, err)
	}
	if port != "*" {
		p.port = port
	}
	if host == "*" {
		return nil
	}
	if below, ok := strings.CutPrefix(host, "*."); ok {
		p.subdomains, host = true, below
	}
	p.host = strings.TrimSuffix(strings.ToLower(host), ".") // as addresses are compared
	if ip, ok := strings.CutPrefix(p.host, "["); ok {
		p.host, _ = strings.CutSuffix(ip, "]")
	}
	return p.checkHost()
}

func (p *Pattern) checkHost() error {
	ip, notIP := netip.ParseAddr(p.host)
	switch {
	case p.host == "":
		return fmt.Errorf("%q has no host", p.text)
	case strings.Contains(p.host, "*"):
		return fmt.Errorf("%q has a * inside its host; it can only stand in front, as in *.example.com", p.text)
	case notIP == nil && p.subdomains:
		return fmt.Errorf("%q: an IP address has no subdomains", p.text)
	case notIP == nil && p.host != spelled(ip):
		return fmt.Errorf("%q: browsers write this address as %s", p.text, spelled(ip))
	case notIP == nil:
		return nil
	case endsInNumber.MatchString(p.host):
		return fmt.Errorf("%q: %s is not an IP address", p.text, p.host)
	}
	for _, c := range []byte(p.host) {
		if c >= 0x80 {
			return fmt.Errorf("%q: write an international domain in its ASCII form (xn--…)", p.text)
		}
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-._", rune(c)) {
			return fmt.Errorf("%q: a host cannot contain %q", p.text, c)
		}
	}
	if strings.Contains(p.host, "..") || strings.HasPrefix(p.host, ".") {
		return fmt.Errorf("%q has an empty part in its host", p.text)
	}
	return nil
}

// endsInNumber are the hosts that browsers read as an IPv4 address, and write as four numbers; or do not read at all.
var endsInNumber = lazyregexp.New(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// spelled is an address as browsers write it.
func spelled(ip netip.Addr) string {
	if ip.Is4In6() {
		b := ip.As16()
		return fmt.Sprintf("::ffff:%x:%x", uint16(b[12])<<8|uint16(b[13]), uint16(b[14])<<8|uint16(b[15]))
	}
	return ip.WithZone("").String()
}

func splitPort(authority string) (host, port string, err error) {
	if strings.Contains(authority, "@") {
		return "", "", fmt.Errorf("a user name cannot be part of a pattern")
	}
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 || strings.HasSuffix(authority, "]") {
		return authority, "*", nil
	}
	host, port = authority[:colon], authority[colon+1:]
	if strings.Contains(host, ":") && !strings.HasSuffix(host, "]") {
		return "", "", fmt.Errorf("write an IPv6 address in brackets, as in http://[::1]/*")
	}
	if port == "*" {
		return host, port, nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || port[0] == '0' {
		return "", "", fmt.Errorf("%q is not a port; write a number from 1 to 65535, or *", port)
	}
	return host, port, nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Narrow reports, as an error, a pattern that covers sites of strangers: any host, or a whole top-level domain.
// A plugin may not run there, though it may exclude such a pattern.
func (p Pattern) Narrow() error {
	if p.EverySite() {
		return fmt.Errorf("%q matches every site; name the sites instead, such as https://*.example.com/*", p.text)
	}
	if p.subdomains && !strings.Contains(p.host, ".") && p.host != "localhost" {
		return fmt.Errorf("%q matches a whole top-level domain; name the sites instead, such as "+
			"https://*.example.com/*",
			p.text)
	}
	return nil
}

// EverySite reports whether a pattern covers any host.
func (p Pattern) EverySite() bool { return p.host == "" }

// Matches reports whether an address is covered.
func (p Pattern) Matches(u *url.URL) bool {
	if !p.matchesScheme(u.Scheme) || !p.matchesHost(u.Hostname()) || !p.matchesPort(u) {
		return false
	}
	path := cmp.Or(u.EscapedPath(), "/")
	if u.ForceQuery || u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	// Chrome lets `/app/*` match `/app` as well.
	return p.path == path+"/*" || glob(p.path, path)
}

func (p Pattern) matchesScheme(scheme string) bool {
	return p.scheme == scheme || p.scheme == "*" && (scheme == "http" || scheme == "https")
}

func (p Pattern) matchesHost(host string) bool {
	if p.host == "" {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == p.host {
		return true
	}
	return p.subdomains && strings.HasSuffix(host, "."+p.host)
}

func (p Pattern) matchesPort(u *url.URL) bool {
	if p.port == "" {
		return true
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return port == p.port
}

// glob matches text against a pattern in which only * is special. On a mismatch it goes back to the last * and lets
// it swallow one character more, so it takes at most pattern times text steps and no memory.
func glob(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

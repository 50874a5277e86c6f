package resources

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"tabrelay/relay/road/fault"
)

// guard decides what may be dialled. A name is looked up by the dialler, and the address that it is about to connect
// to is checked then: what the name meant earlier, or will mean, makes no difference.
type guard struct {
	addresses   func(netip.Addr) bool // nil: Public
	resolver    *net.Resolver         // nil: the system's
	authorities *x509.CertPool        // nil: the system's

	authoritiesPEM []byte // the same, for programs
}

func newGuard(o Options) *guard {
	g := &guard{addresses: o.Addresses, authoritiesPEM: o.Authorities}
	if o.Authorities != nil {
		g.authorities = x509.NewCertPool()
		g.authorities.AppendCertsFromPEM(o.Authorities)
	}
	return g
}

// errForbidden is why a connection was not made.
var errForbidden = errors.New("the address is not a public one")

const connectTime = 10 * time.Second

// dial connects to host:port, if its address may be dialled. Proxies of the environment have no say.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connectTime, Resolver: g.resolver, ControlContext: func(_ context.Context, network,
		address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") || !g.allows(at.Addr()) {
			return fmt.Errorf("%w: %s", errForbidden, address)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}

func (g *guard) allows(a netip.Addr) bool {
	if g.addresses != nil {
		return g.addresses(a)
	}
	return Public(a)
}

// special4and6 are the networks that are not the public internet although they look like it: the special-purpose
// registries of RFC 6890 (IANA, IPv4 and IPv6), with what embeds another address (6to4, Teredo, NAT64), because that
// may be private.
var special4and6 = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
	"192.52.193.0/24",
	"192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

// global is what IPv6 has for the public internet (RFC 4291 section 2.4).
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// Public reports whether an address belongs to the public internet: not this machine, not a private or link-local
// network, not a carrier's, not multicast, and nothing that embeds such an address.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !global.Contains(a) {
		return false
	}
	return !slices.ContainsFunc(special4and6, func(p netip.Prefix) bool { return p.Contains(a) })
}

// hostOf is the host and port of a URL in the form in which hosts are allowed, if it is a plain ASCII name.
func hostOf(u *url.URL) (host, port string, failure *fault.Error) {
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	port = u.Port()
	if host == "" || strings.HasSuffix(u.Host, ":") {
		return "", "", invalid("The URI names no host", "Write https://host/path.")
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != ':' {
			return "", "", invalid("The host is not a plain name", "Write a name with other letters in its xn-- form.")
		}
	}
	port = cmp.Or(port, "443")
	return host, port, nil
}

// admits reports whether hosts name that host, with that port where it is not 443.
func (o *outside) admits(host, port string) bool {
	for _, h := range o.Hosts {
		name, p, err := net.SplitHostPort(h)
		if err != nil {
			name, p = h, "443"
		}
		if strings.EqualFold(name, host) && p == port {
			return true
		}
	}
	return false
}

// admit is the failure of a host that is not allowed.
func (o *outside) admit(u *url.URL, key string) (host, port string, failure *fault.Error) {
	host, port, failure = hostOf(u)
	switch {
	case failure != nil:
	case len(o.Hosts) == 0:
		failure = unreadable(fault.TypePermissionDenied, "Resources of the scheme "+u.Scheme+" are switched off",
			"Ask the person to allow the host in "+key+".")
	case !o.admits(host, port):
		failure = unreadable(fault.TypePermissionDenied, "That host and port are not allowed",
			"Ask the person to allow them in "+key+".")
	}
	return host, port, failure
}

// forbidden is the failure of an address that may not be dialled.
func forbidden(err error) *fault.Error {
	return unreadable(fault.TypePermissionDenied, "The host has an address that is not public",
		"Nothing on this machine or in a private network is fetched. If it is a web page, open it in the browser and "+
			"read its tab.", fault.WithCause(err))
}

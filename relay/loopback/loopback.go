// Package loopback tells requests of this machine from those that a web page elsewhere makes a browser send here: its
// Origin gives it away and, after DNS rebinding, its Host does.
package loopback

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Host reports whether a Host header, with or without a port, names this machine.
func Host(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return name(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// Origin reports whether an Origin header is that of a page of this machine. It is taken apart and compared whole,
// never in part.
func Origin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && origin == u.Scheme+"://"+u.Host && name(u.Hostname())
}

func name(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

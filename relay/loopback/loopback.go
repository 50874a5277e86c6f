// Package loopback tells requests of this machine from those that a web page elsewhere makes a browser send here: its
// Origin gives it away and, after DNS rebinding, its Host does.
package loopback

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Host reports whether a Host header, with or without a port, names this machine: localhost, 127.0.0.0/8 in four decimal
// numbers, or [::1]. No other spelling does, whatever a resolver would make of it: clients write one of these.
func Host(host string) bool {
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		if _, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil || host[at+1] == '+' {
			return false
		}
		host = host[:at]
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		return closed && strings.Contains(inner, ":") && name(inner)
	}
	return !strings.Contains(host, ":") && name(host)
}

// Origin reports whether an Origin header is that of a page of this machine. It is taken apart and compared whole,
// never in part.
func Origin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && origin == u.Scheme+"://"+u.Host && Host(u.Host)
}

func name(host string) bool {
	if strings.ToLower(host) == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() && ip.Zone() == "" && !ip.Is4In6()
}

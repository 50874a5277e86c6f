package match

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"tabrelay/relay/lib/lazyregexp"
)

// webAddress is an address that every reader divides alike: its groups are scheme, host and port. Sign-in data before
// the host has none of the characters at which readers differ.
var webAddress = lazyregexp.New(`^([Hh][Tt][Tt][Pp][Ss]?)://(?:[\w.~!$&'()*+,;=:%-]*@)?` +
	`([\w.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]+))?(?:[/?#]|$)`)

// ErrSpelling is wrapped by the errors of Origin.
var ErrSpelling = errors.New("it is not written as browsers write it")

// Origin is the origin of an http or https address as browsers have it: scheme, host in lower case, and the port unless
// it is the scheme's own. It is empty for what browsers take for no such address. An error, a sentence with the right
// spelling where there is one, says that a browser would read other parts than stand there: rules about the origin
// would be asked about another one than is loaded.
func Origin(address string) (string, error) {
	if !startsAsWebAddress(address) {
		return "", nil
	}
	if origin := originOf(address); origin != "" {
		return origin, nil
	}
	if right := spelling(address); right != "" {
		return "", fmt.Errorf("%w: write %s", ErrSpelling, right)
	}
	return "", fmt.Errorf("%w: write https:// or http://, the name of the host in lower case (one with other letters "+
		"than those of ASCII in its xn-- form) or its address as four numbers with dots, such as 192.0.2.1, and the "+
		"port as a plain number, if any", ErrSpelling)
}

// originOf is the origin of an address that is written as browsers write it; empty: it is none.
func originOf(address string) string {
	parts := webAddress.FindStringSubmatch(address)
	if parts == nil {
		return ""
	}
	scheme, host, port := strings.ToLower(parts[1]), strings.ToLower(parts[2]), parts[3]
	if !plainHost(host) {
		return ""
	}
	if port == "" || port == ownPort[scheme] {
		return scheme + "://" + host
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(number, 10) != port {
		return ""
	}
	return scheme + "://" + host + ":" + port
}

var ownPort = map[string]string{"http": "80", "https": "443"}

// startsAsWebAddress reports whether a browser takes a text for an http or https address, whatever its host: it leaves
// out tabs and line ends, and what is not visible around it.
func startsAsWebAddress(text string) bool {
	text = strings.ToLower(clean(text))
	return strings.HasPrefix(text, "http:") || strings.HasPrefix(text, "https:")
}

func clean(text string) string {
	if strings.ContainsAny(text, "\t\n\r") { // each call asks about an address, and hardly one has these
		text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	}
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
}

// plainHost reports whether a browser leaves a host in lower case as it is written.
func plainHost(host string) bool {
	if inside, found := strings.CutPrefix(host, "["); found {
		at, err := netip.ParseAddr(strings.TrimSuffix(inside, "]"))
		return err == nil && "["+inBrowsers(at)+"]" == host
	}
	if at, err := netip.ParseAddr(host); err == nil {
		return at.String() == host
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && !isNumber(last) // else browsers read it as an IPv4 address
}

// isNumber reports whether browsers take the last label of a host for a number.
func isNumber(label string) bool {
	digits := "0123456789"
	if hex, found := strings.CutPrefix(label, "0x"); found {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// inBrowsers is an IP address as browsers write it, which have no mixed form.
func inBrowsers(at netip.Addr) string {
	if at.Is4In6() {
		b := at.As16()
		return fmt.Sprintf("::ffff:%x:%x", int(b[12])<<8|int(b[13]), int(b[14])<<8|int(b[15]))
	}
	return at.String()
}

// spelling is the origin that somebody most likely means with an address that is not written as browsers write it;
// empty: nobody can tell.
func spelling(address string) string {
	scheme, rest, _ := strings.Cut(clean(address), ":")
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, port := rest, ""
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, ']') {
		host, port = rest[:colon], strings.TrimLeft(rest[colon+1:], "0")
	}
	if plain, err := url.PathUnescape(host); err == nil {
		host = plain
	}
	if inside, found := strings.CutPrefix(host, "["); found {
		at, err := netip.ParseAddr(strings.TrimSuffix(inside, "]"))
		if err != nil {
			return ""
		}
		host = "[" + inBrowsers(at) + "]"
	} else {
		host = strings.TrimSuffix(host, ".")
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return ""
		}
		host = ascii
	}
	right := strings.ToLower(scheme) + "://" + host
	if port != "" {
		right += ":" + port
	}
	return originOf(right)
}

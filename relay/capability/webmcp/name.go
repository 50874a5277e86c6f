package webmcp

import (
	"crypto/sha256"
	"encoding/base32"
	"net"
	"net/url"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/registry"
)

// A full name is web__<host>__<tool>. What stands for the host never has two underscores in a row, so that the first
// pair after it ends it.
const (
	mostName   = 64 // of a tool, in MCP clients
	mostHost   = 28
	hashDigits = 12 // 60 bits: nobody finds an origin with the hash of another
)

var (
	notInName  = lazyregexp.New(`[^A-Za-z0-9_-]`)
	plainTool  = lazyregexp.New(`^[A-Za-z0-9_-]+$`)
	underscore = lazyregexp.New(`_+`)
)

// fullName is the name of a page's tool: the same for the same origin and tool, at any time, in any order. Where origin
// or tool had to be changed to fit, a hash of both tells it from what is like it.
func fullName(origin, tool string) string {
	host := hostPart(origin)
	room := mostName - len(registry.Web) - len(host) - 2*len("__")
	if plainTool.MatchString(tool) && len(tool) <= room {
		return registry.Web + "__" + host + "__" + tool
	}
	part := notInName.ReplaceAllString(tool, "_")
	part = part[:min(len(part), room-hashDigits-1)]
	return registry.Web + "__" + host + "__" + part + "_" + hash(origin+"\n"+tool)
}

// hostPart stands for an origin: its host with _ for the dots, and the port if it has one. An origin that is not the
// usual one of that host (https, or http on this machine) has a hash, and so has what is too long, of which the end is
// kept: who owns a name is said there. Hosts are in lower case and the hash in capitals, so that no host reads like it.
func hostPart(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" {
		return hash(origin)
	}
	host := strings.ToLower(u.Hostname())
	part := host
	if u.Port() != "" {
		part += "." + u.Port()
	}
	usual := map[bool]string{false: "https", true: "http"}[local(host)] == u.Scheme &&
		strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && !strings.HasSuffix(host, ".")
	part = notInName.ReplaceAllString(part, "_")
	part = strings.Trim(underscore.ReplaceAllString(part, "_"), "_")
	if usual && len(part) <= mostHost {
		return part
	}
	part = part[max(0, len(part)-(mostHost-hashDigits-1)):]
	return hash(origin) + "_" + strings.Trim(part, "_")
}

// local reports whether a host is this machine, to which pages are trusted to connect without encryption.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base32.StdEncoding.EncodeToString(sum[:])[:hashDigits]
}

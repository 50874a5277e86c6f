package resources

import (
	"net/netip"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "93.184.215.14": true, "172.15.0.1": true, "172.32.0.1": true,
		"100.63.0.1": true, "100.128.0.1": true,
		"2606:4700:4700::1111": true, "2a00:1450:4001::200e": true, "::ffff:8.8.8.8": true,

		"127.0.0.1": false, "127.255.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false,
		"172.16.0.1": false, "172.31.255.255": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false,
		"192.0.0.192": false, "192.0.2.1": false,
		"198.18.0.1": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false,
		"240.0.0.1": false, "255.255.255.255": false,
		"192.88.99.1": false,
		"::":          false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false,
		"::ffff:10.0.0.1": false, "::127.0.0.1": false,
		"fe80::1": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::a00:1": false,
		"2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false, "100::1": false, "5f00::1": false,
		"3fff::1": false, "2001:20::1": false,
		"fe80::1%eth0": false, "2606:4700::1%eth0": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("Public(%s) is %v", text, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is a public one")
	}
}

func TestAllowedHosts(t *testing.T) {
	o := outside{Outside{Hosts: []string{"docs.example.org", "other.example.org:8443"}}}
	for uri, want := range map[string]bool{
		"https://docs.example.org/": true, "https://DOCS.example.org/": true, "https://docs.example.org./": true,
		"https://docs.example.org:443/":   true,
		"https://other.example.org:8443/": true,
		"https://docs.example.org:8443/":  false, "https://other.example.org/": false, "https://example.org/": false,
		"https://docs.example.org.evil.test/": false,
		"https://xdocs.example.org/":          false, "https://2130706433/": false, "https://0x7f000001/": false,
		"https://0177.0.0.1/": false, "https://127.1/": false,
		"https://[::1]/": false, "https://[::ffff:7f00:1]/": false, "https://docs.example.org%2eevil.test/": false,
	} {
		u, failure := parse(uri)
		if failure == nil {
			_, _, failure = o.admit(u, webHosts)
		}
		if (failure == nil) != want {
			t.Errorf("%s: %v", uri, failure)
		}
	}
}

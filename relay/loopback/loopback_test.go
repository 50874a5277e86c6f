package loopback

import "testing"

func TestHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:7717": true, "127.8.9.1:1": true, "localhost": true, "LOCALHOST:80": true, "[::1]:7717": true, "[::1]": true,
		"": false, "evil.example": false, "evil.example:7717": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false,
		"localhost@evil.example": false, "0.0.0.0:7717": false, "10.0.0.1": false, "2130706433": false, "0x7f.1": false,
		"0:0:0:0:0:0:0:1": false, "[0:0:0:0:0:0:0:1]:80": true, "[::1%25x]": false, "[::1%25x]:7717": false, "[::1%lo]": false, "[::1%]": false,
		"127.0.0.1%25x": false, "[127.0.0.1]": false, "[127.0.0.1]:80": false, "[localhost]": false, "::1": false, "[::1": false, "::1]": false, "[[::1]]": false,
		"[::ffff:127.0.0.1]": false, "[::ffff:7f00:1]:80": false, "[::127.0.0.1]": false, "[::]": false, "0": false, "127.1": false, "127.0.1": false,
		"0177.0.0.1": false, "127.0.0.01": false, "017700000001": false, "0x7f000001": false, "127.0.0.1.": false, "localhost.": false, "localhost.:80": false,
		"user@localhost": false, "user:pw@127.0.0.1": false, "127.0.0.1:80@evil.example": false, "127.0.0.1:": false, "localhost:": false, "[::1]:": false,
		"localhost:x": false, "localhost:+80": false, "localhost:-1": false, "localhost:65536": false, "localhost:80:80": false, "[::1]x": false, "[::1]x:80": false,
		" localhost": false, "localhost ": false, "localhost/": false, "localhost,evil.example": false, "localho\u017ft": false, "１２７.0.0.1": false, "127。0.0.1": false,
		"ip6-localhost": false, "a.localhost": false, "%6cocalhost": false, "localhost\x00": false, "LocalHost": true, "127.255.255.254:65535": true,
	} {
		if got := Host(host); got != want {
			t.Errorf("Host(%q) = %v", host, got)
		}
	}
}

func TestOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://127.0.0.1": true, "http://localhost:3000": true, "https://[::1]:8443": true,
		"": false, "null": false, "http://evil.example": false, "http://127.0.0.1.evil.example": false, "http://localhost.evil.example": false,
		"http://localhost@evil.example": false, "http://user@localhost": false, "http://localhost/": false, "http://localhost?x": false,
		"http://localhost#x": false, "ftp://localhost": false, "file://localhost": false, "chrome-extension://localhost": false,
		"http://[::1%25x]": false, "http://[::ffff:127.0.0.1]:80": false, "http://localhost.": false, "http://2130706433": false, "http://localhost:": false,
		"http://LOCALHOST": true, "http://localho\u017ft": false, "http://127.0.0.1:80:80": false,
	} {
		if got := Origin(origin); got != want {
			t.Errorf("Origin(%q) = %v", origin, got)
		}
	}
}

package loopback

import "testing"

func TestHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:7717": true, "127.8.9.1:1": true, "localhost": true, "LOCALHOST:80": true, "[::1]:7717": true, "[::1]": true,
		"": false, "evil.example": false, "evil.example:7717": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false,
		"localhost@evil.example": false, "0.0.0.0:7717": false, "10.0.0.1": false, "2130706433": false, "0x7f.1": false,
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
	} {
		if got := Origin(origin); got != want {
			t.Errorf("Origin(%q) = %v", origin, got)
		}
	}
}

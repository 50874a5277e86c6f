package match_test

import (
	"net/url"
	"strings"
	"testing"

	"tabrelay/relay/lib/match"
)

func TestPatternMatchesURLs(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"https://example.com/*",
			[]string{"https://example.com", "https://example.com/", "https://EXAMPLE.com/a?b#c",
				"https://example.com:8443/",
				"https://example.com./"},
			[]string{"http://example.com/", "https://www.example.com/", "https://example.com.evil.net/",
				"https://evil.net/?https://example.com/"}},
		{"*://*.example.com/app/*",
			[]string{"http://example.com/app/x", "https://a.b.example.com/app/", "https://example.com/app"},
			[]string{"https://example.com/", "https://notexample.com/app/", "ftp://example.com/app/",
				"https://example.com/app?x=/app/"}},
		{"http://localhost:3000/*",
			[]string{"http://localhost:3000/", "http://localhost:3000/x/y"},
			[]string{"http://localhost/", "http://localhost:30000/", "https://localhost:3000/"}},
		{"https://example.com:443/*", []string{"https://example.com/"}, []string{"https://example.com:444/"}},
		{"http://127.0.0.1:*/*", []string{"http://127.0.0.1/", "http://127.0.0.1:7718/"},
			[]string{"http://127.0.0.10/"}},
		{"https://Example.COM./*", []string{"https://example.com/", "https://example.com./x"},
			[]string{"https://example/"}},
		{"*://*.example.com.:8443/*", []string{"https://a.example.com:8443/"}, []string{"https://a.example.com/"}},
		{"http://[::ffff:a00:1]/*", []string{"http://[::ffff:a00:1]/"}, nil},
		{"http://[::1]:80/*", []string{"http://[::1]/", "http://[::1]:80/x"}, []string{"http://[::2]/"}},
		{"https://a.com/x*y*z", []string{"https://a.com/xyz", "https://a.com/x1y2z", "https://a.com/xyzyz",
			"https://a.com/x?y&z"}, []string{"https://a.com/xzy", "https://a.com/xyz1"}},
		{"https://a.com/a?b=*", []string{"https://a.com/a?b=1"}, []string{"https://a.com/axb=1", "https://a.com/a"}},
		{"*://*/admin/*", []string{"http://any.host/admin/x"}, []string{"http://any.host/x"}},
	}
	for _, test := range tests {
		p, err := match.Parse(test.pattern)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.pattern, err)
			continue
		}
		for want, addresses := range map[bool][]string{true: test.yes, false: test.no} {
			for _, address := range addresses {
				u, err := url.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Matches(u); got != want {
					t.Errorf("%q matches %q = %v, want %v", test.pattern, address, got, want)
				}
			}
		}
	}
}

func TestMalformedPatternIsRefused(t *testing.T) {
	tests := map[string]string{
		"<all_urls>":                 "every site",
		"*":                          "every site",
		"example.com/*":              "no scheme",
		"file:///etc/*":              `scheme "file"`,
		"chrome://settings/*":        "scheme",
		"https://example.com":        "no path",
		"https:///x":                 "no host",
		"https://*example.com/*":     "* inside",
		"https://example.*/*":        "* inside",
		"https://*.1.2.3.4/*":        "no subdomains",
		"http://1.2.3.400/*":         "not an IP address",
		"http://0x7f.1/*":            "not an IP address",
		"http://a.0X7F/*":            "not an IP address",
		"http://10.0.1./*":           "not an IP address",
		"http://[::ffff:10.0.0.1]/*": "browsers write this address as ::ffff:a00:1",
		"http://[0:0::1]/*":          "browsers write this address as ::1",
		"http://[fe80::1%eth0]/*":    "browsers write this address as fe80::1",
		"http://::1/*":               "brackets",
		"https://a.com:0/*":          "not a port",
		"https://a.com:99999/*":      "not a port",
		"https://a.com:/*":           "not a port",
		"https://me@a.com/*":         "user name",
		"https://bücher.example/*":   "xn--",
		"https://a b.com/*":          "cannot contain",
		"https://a..com/*":           "empty part",
		"https://a.com/#x":           "fragment",
		"https://a.com/" + strings.Repeat("x", 2000): "longer",
	}
	for pattern, want := range tests {
		if _, err := match.Parse(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", pattern, err, want)
		}
	}
}

func TestPatternForWholeDomainsIsNotNarrow(t *testing.T) {
	for pattern, narrow := range map[string]bool{
		"https://*.example.com/*": true,
		"http://localhost/*":      true,
		"*://*/*":                 false,
		"https://*.com/*":         false,
		"https://*:8080/*":        false,
	} {
		p, err := match.Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Narrow() == nil; got != narrow {
			t.Errorf("Narrow(%q) = %v, want narrow %v", pattern, p.Narrow(), narrow)
		}
	}
}

func TestExcludedURLsDoNotMatch(t *testing.T) {
	rule, err := match.NewRule([]string{"https://a.com/*", "https://b.com/*"}, []string{"*://*/private/*"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://a.com/":          true,
		"https://b.com/x":         true,
		"https://b.com/private/x": false,
		"https://c.com/":          false,
		"about:blank":             false,
		"%zz":                     false,
	} {
		if got := rule.Matches(address); got != want {
			t.Errorf("rule matches %q = %v, want %v", address, got, want)
		}
	}
	if (match.Rule{}).Matches("https://a.com/") {
		t.Error("the zero rule matches")
	}
	if _, err := match.NewRule(nil, []string{"nonsense"}); err == nil {
		t.Error("NewRule took an exclusion that is no pattern")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("https://*.example.com:8080/a*b", "https://x.example.com:8080/ab")
	f.Add("*://[::1]:*/*", "http://[::1]/")
	f.Add("https://*/*/*/*/*/*", "https://a/aaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, pattern, address string) {
		p, err := match.Parse(pattern)
		if err != nil {
			return
		}
		again, err := match.Parse(p.String())
		if err != nil || again != p {
			t.Errorf("%q reads differently the second time: %v", pattern, err)
		}
		u, err := url.Parse(address)
		if err != nil {
			return
		}
		if p.Matches(u) && u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q matches %q", pattern, address)
		}
	})
}

func BenchmarkRule(b *testing.B) {
	rule, err := match.NewRule([]string{"https://*.example.com/*", "http://localhost:3000/app/*"},
		[]string{"*://*/private/*"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		rule.Matches("http://localhost:3000/app/very/long/path?with=query")
	}
}

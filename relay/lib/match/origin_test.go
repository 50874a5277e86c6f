package match_test

import (
	"errors"
	"strings"
	"testing"

	"tabrelay/relay/lib/match"
)

func TestOriginIsThatOfBrowsers(t *testing.T) {
	for address, want := range map[string]string{
		"https://bank.example":                        "https://bank.example",
		"https://bank.example/pay?x#y":                "https://bank.example",
		"https://bank.example?x":                      "https://bank.example",
		"HTTPS://Bank.Example:443/":                   "https://bank.example",
		"http://bank.example:80#x":                    "http://bank.example",
		"https://bank.example:80/":                    "https://bank.example:80",
		"http://localhost:8080/a":                     "http://localhost:8080",
		"https://user:p%40ss@bank.example/":           "https://bank.example",
		"https://forum.example@bank.example/":         "https://bank.example",
		"https://bank.example/100%":                   "https://bank.example",
		"https://bank.example/a\\b\n":                 "https://bank.example",
		"https://my_shop.bank.example/":               "https://my_shop.bank.example",
		"https://xn--bnk-qla.example/":                "https://xn--bnk-qla.example",
		"http://192.0.2.1/":                           "http://192.0.2.1",
		"http://3dprinter:8080/":                      "http://3dprinter:8080",
		"http://a.0x1g/":                              "http://a.0x1g",
		"http://[::1]:81/":                            "http://[::1]:81",
		"http://[2001:DB8::1]/":                       "http://[2001:db8::1]",
		"http://[::ffff:c000:201]/":                   "http://[::ffff:c000:201]",
		"back":                                        "",
		"":                                            "",
		"//bank.example/":                             "",
		"ftp://bank.example/":                         "",
		"chrome://settings/":                          "",
		"javascript:location='https://bank.example/'": "",
	} {
		if got, err := match.Origin(address); got != want || err != nil {
			t.Errorf("%q is of %q, %v; want %q", address, got, err, want)
		}
	}
}

// What browsers load here is not what the text seems to say, or what other readers of addresses take it for.
func TestOriginRefusesWhatBrowsersReadDifferently(t *testing.T) {
	for address, right := range map[string]string{
		"https:///bank.example/pay":            "https://bank.example",
		"https:bank.example":                   "https://bank.example",
		"https:/bank.example":                  "https://bank.example",
		`https:\\bank.example\`:                "https://bank.example",
		"https://bank%2eexample/":              "https://bank.example",
		"https://%62ank.example/":              "https://bank.example",
		`https://bank.example\@forum.example/`: "https://bank.example",
		`https://bank.example\.forum.example/`: "https://bank.example",
		"https://bank\t.example/":              "https://bank.example",
		"https://bank.exa\nmple/":              "https://bank.example",
		"ht\ttps://bank.example/":              "https://bank.example",
		" https://bank.example/":               "https://bank.example",
		"\x00\x1fhttps://bank.example/":        "https://bank.example",
		"https://bank.example:/":               "https://bank.example",
		"https://bank.example:0443/":           "https://bank.example",
		"https://bank.example:00081/":          "https://bank.example:81",
		"https://a@b@bank.example/":            "https://bank.example",
		"https://a:b@c:d@bank.example/":        "https://bank.example",
		"https://bank.example./":               "https://bank.example",
		"https://my_host.example./":            "https://my_host.example",
		"https://bänk.example/":                "https://xn--bnk-qla.example",
		"https://bank。example/":                "https://bank.example",
		"https://ｂａｎｋ.example/":                "https://bank.example",
		"https://ba\u00adnk.example/":          "https://bank.example",
		"http://[::FFFF:192.0.2.1]/":           "http://[::ffff:c000:201]",
		"http://[0:0:0:0:0:0:0:1]/":            "http://[::1]",
		"http://[fe80::1%25eth0]/":             "",
		"http://0x7f.1/":                       "",
		"http://127.1/":                        "",
		"http://2130706433/":                   "",
		"http://0177.0.0.1/":                   "",
		"http://192.0.2.1./":                   "http://192.0.2.1",
		"https://bank.example:65536/":          "",
		"https://bank.example:4 43/":           "",
		"https://bank.example:443x/":           "",
		"https://forum.example,bank.example/":  "",
		"https://bank.example|x/":              "",
		"https://":                             "",
		"https:///":                            "",
		"https://:443/":                        "",
		"https://user@/":                       "",
		"https://../":                          "",
	} {
		origin, err := match.Origin(address)
		if origin != "" || !errors.Is(err, match.ErrSpelling) {
			t.Errorf("%q is taken for one of %q: %v", address, origin, err)
			continue
		}
		if _, named, _ := strings.Cut(err.Error(), ": write "); right != "" && named != right ||
			right == "" && !strings.Contains(named, "four numbers") {
			t.Errorf("%q: %v; want %q", address, err, right)
		}
	}
}

// Whatever is taken for an origin says so itself, so that no second reading of it gives another one.
func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{
		"https://bank.example:0443/", `https://bank.example\@x/`, "http://[::ffff:1.2.3.4]/", "https:///a",
		"https://a@b@c",
		"http://1.2.3.4", "https://bänk.example", "ht\ntps://a/", "https://a:b@c:1/", "https://xn--a/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		origin, err := match.Origin(address)
		if err != nil {
			_, right, found := strings.Cut(err.Error(), ": write http")
			if found && !strings.HasPrefix(right, "s:// or") {
				if again, err := match.Origin("http" + right); err != nil || again != "http"+right {
					t.Errorf("%q: the right spelling http%s is of %q, %v", address, right, again, err)
				}
			}
			return
		}
		if origin == "" {
			if strings.HasPrefix(strings.ToLower(address), "https://") {
				t.Errorf("%q passes for no web address", address)
			}
			return
		}
		if again, err := match.Origin(origin); again != origin || err != nil {
			t.Errorf("%q is of %q, which is of %q, %v", address, origin, again, err)
		}
		if !strings.HasPrefix(strings.ToLower(address), origin[:strings.Index(origin, ":")]) ||
			strings.ContainsAny(origin, "\\@%\t\n\r ?#") || strings.ToLower(origin) != origin {
			t.Errorf("%q is of %q", address, origin)
		}
	})
}

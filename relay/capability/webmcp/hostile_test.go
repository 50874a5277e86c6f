package webmcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/registry"
)

// A long host is shortened to a hash and its end. Whoever owns a domain that reads like that end must not get the name
// with a host that reads like the hash.
func TestNoHostReadsLikeAnother(t *testing.T) {
	seen := map[string]string{}
	take := func(origin string) {
		name := fullName(origin, "pay")
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s are both %s", origin, other, name)
		}
		if len(name) > mostName || !registry.IsPageTool(name) {
			t.Errorf("%s is %s", origin, name)
		}
		seen[name] = origin
	}
	for _, origin := range []string{"https://shop.example", "https://shop.example.", "http://shop.example",
		"https://shop.example:8443", "https://accounts.internal.mycompany-holding.com", "https://a_b.example",
		"https://a.x.example", "https://[::1]:3000",
		"http://[::1]:3000", "http://127.0.0.1:3000", "http://localhost."} {
		take(origin)
		host, _, _ := strings.Cut(strings.TrimPrefix(fullName(origin, "pay"), "web__"), "__")
		forged := "https://" + strings.Replace(strings.ToLower(host), "_", ".", 1)
		if strings.ContainsAny(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			take(forged)
		}
	}
}

func TestAToolThatCannotBeReadTakesNoOtherAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newIndex(t)
		for _, broken := range []string{`5`, `null`, `{"name":5}`, `{"name":"x","key":"k","title":{}}`,
			`{"name":"x","key":"k","annotations":[]}`, `{"name":"x","key":"` + strings.Repeat("k", mostKey+1) + `"}`} {
			x.Tell("p", 1, json.RawMessage(`[{"origin":"https://ads.example","tools":[`+broken+`],"dropped":0.5},`+
				one("https://shop.example", "search", "")+`]`))
			pass(time.Minute)
			if got := names(x.now()); len(got) != 1 || got[0] != "web__shop_example__search" {
				t.Errorf("beside %.40s: %v", broken, got)
			}
		}
	})
}

func TestToolsOfAllSitesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newIndex(t)
		tell := func(tab, site int) {
			var tools []string
			for i := range x.options.ToolsPerSite {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d","key":"k"}`, i))
			}
			x.Tell("p", tab, json.RawMessage(fmt.Sprintf(`[{"origin":"https://s%d.example","tools":[%s]}]`, site,
				strings.Join(tools, ","))))
		}
		for site := range mostSites {
			tell(1, site)
			pass(time.Second)
		}
		pass(time.Minute)
		list := names(x.now())
		if len(list) != mostListed || !strings.Contains(strings.Join(list, " "), "s199_example") {
			t.Errorf("%d tools are listed: %v", len(list), list[:3])
		}
		for site := range mostListed/x.options.ToolsPerSite + 1 {
			tell(site+2, site)
		}
		pass(time.Minute)
		if got := len(names(x.now())); got != mostListed {
			t.Errorf("%d tools are listed while all pages are open", got)
		}
	})
}

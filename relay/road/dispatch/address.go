package dispatch

import (
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// loadedAddress returns the address that the call navigates to, and its origin; empty: the call names none.
func (r *run) loadedAddress() (address, origin string) {
	var named map[string]json.RawMessage
	if r.tool.AddressArgument == "" || json.Unmarshal(r.args, &named) != nil ||
		json.Unmarshal(named[r.tool.AddressArgument], &address) != nil {
		return "", ""
	}
	if origin = originOf(address); origin == "" { // "back" or "forward", or an address that the tool will refuse
		return "", ""
	}
	return address, origin
}

// originOf is the origin of a web address as browsers write it; empty: it is none.
func originOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "http":
		return "http://" + strings.TrimSuffix(host, ":80")
	case "https":
		return "https://" + strings.TrimSuffix(host, ":443")
	}
	return ""
}

// checkAddressSpelling refuses an address whose host a browser would rewrite: the rules would be asked about another
// origin than the browser loads.
func (r *run) checkAddressSpelling() *fault.Error {
	_, origin := r.loadedAddress()
	if origin == "" || plainHost(origin) {
		return nil
	}
	return fault.New(fault.ValidationError,
		"The host of "+r.tool.AddressArgument+" is not written as browsers write it",
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Write a name with other letters than those of ASCII in "+
			"its xn-- form, and an address as four numbers with dots, such as 192.0.2.1."))
}

// plainHost reports whether a browser leaves the host of an origin as it is written.
func plainHost(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if at, err := netip.ParseAddr(host); err == nil {
		return at.Zone() == "" && at.String() == host
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._", r) {
			return false
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && (last[0] < '0' || last[0] > '9') // else browsers read it as an IPv4 address
}

// permitAddress checks, by the rules of that site, whether the call may navigate its tab to the address that it names.
// asked is as in permit.
func (r *run) permitAddress(at *call.Target) (asked bool, failure *fault.Error) {
	_, origin := r.loadedAddress()
	if at == nil || origin == "" || origin == at.Origin {
		return false, nil
	}
	there := *at
	there.Origin = origin
	access := r.access(&there)
	access.Approved = r.consent.address
	says, failure := r.Policy.Allow(access)
	switch {
	case failure != nil:
		r.refused = true
		return false, failure
	case !says.Ask:
		return false, nil
	case r.call.Consent && r.consent.address == (call.Binding{}):
		r.consent.address, r.consent.from = r.Policy.BindingOf(access), at.Origin
		return false, nil
	}
	return true, r.ask(func(ctx context.Context) (failure *fault.Error) {
		r.consent.address, failure = r.Policy.Ask(ctx, access, r.call.Ask, r.reports.announce)
		r.consent.from = at.Origin
		return failure
	})
}

// addressAllowed reports whether the person has allowed to navigate from the tab's present page to the address that the
// call names: then they are not also asked about the present page.
func (r *run) addressAllowed(at *call.Target) bool {
	return at != nil && r.consent.address != (call.Binding{}) && r.consent.from == at.Origin
}

// hides reports whether a site is off for the call.
func (r *run) hides(origin string) bool {
	if r.Policy == nil {
		return false
	}
	sites := r.Policy.Sites(r.access(nil))
	return sites.Of(origin) == call.SiteOff
}

// codeSiteStopped is the code of a call that navigates its tab and was stopped at a site that is off, which it reached
// by the address itself, a redirect, the page's scripts, or the tab's history.
const codeSiteStopped fault.Code = "SITE_STOPPED"

// send sends the attempt. A navigation that the extension stopped at a site that is off fails as permission denied.
func (r *run) send(at call.Target, q call.Invocation) (*call.Reply, *fault.Error) {
	reply, failure := r.Browser.Send(r.clock.ctx, at, q)
	if failure == nil || failure.Code != codeSiteStopped || !r.tool.Browses {
		return reply, failure
	}
	r.refused = true
	message, hint := failure.Message, r.nextAt(at, failure)
	if failure.Outcome != fault.NotExecuted {
		message += ": the way there led to it"
		hint += " The tab may show Chrome's own page about it, or that site: go on in another one (browser__open_tab)."
	}
	return nil, fault.New(fault.PermissionDenied, message, fault.WithTab(at.TabID, at.Profile),
		fault.WithOutcome(failure.Outcome), fault.WithHint(hint))
}

// nextAt is the next step of a call that was stopped at a site: whose rule it is says who can change it. Where no rule
// forbids it, the configuration keeps the page from agents.
func (r *run) nextAt(at call.Target, stopped *fault.Error) string {
	var site closedSite
	if r.Policy != nil && json.Unmarshal(unquoteJSON(stopped.Data), &site) == nil && site.Origin != "" {
		at.Origin = site.Origin
		if _, denied := r.Policy.Allow(r.access(&at)); denied != nil {
			return denied.Message + ". " + denied.Hint
		}
	}
	return call.UnreadableHint
}

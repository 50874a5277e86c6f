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

// leadsTo is the address that the call loads, and its origin; empty: it names none.
func (r *run) leadsTo() (address, origin string) {
	var named map[string]json.RawMessage
	if r.tool.Leads == "" || json.Unmarshal(r.args, &named) != nil ||
		json.Unmarshal(named[r.tool.Leads], &address) != nil {
		return "", ""
	}
	if origin = originOf(address); origin == "" { // back, forward, or what the tool refuses
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

// refuseSpelling fails where a browser would read another site in the address that the call loads than the rules are
// asked about.
func (r *run) refuseSpelling() *fault.Error {
	_, origin := r.leadsTo()
	if origin == "" || plainHost(origin) {
		return nil
	}
	return fault.New(fault.ValidationError, "The host of "+r.tool.Leads+" is not written as browsers write it",
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Write a name with other letters than those of ASCII in "+
			"its xn-- form, and an address as four numbers with dots, such as 192.0.2.1."))
}

// plainHost reports whether a browser writes the host of an origin in the same way.
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
	return last != "" && (last[0] < '0' || last[0] > '9') // else it is an address, in one of its other forms
}

// permitAddress says whether the call may take its tab to the address that it names: by what holds for that site. asked
// is as in permit.
func (r *run) permitAddress(at *call.Target) (asked bool, failure *fault.Error) {
	_, origin := r.leadsTo()
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

// addressAllowed reports whether the person was asked about the address that the call takes its tab to, away from the
// page that it shows: then they have said all.
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

// siteStopped is with what a call ends that was to take its tab somewhere, when the way led to a site that is off: by
// the
// address itself, by a redirect, by the page's scripts, or by the tab's history.
const siteStopped fault.Code = "SITE_STOPPED"

// sendTo sends the attempt. What the extension stopped on its way is refused as what is off.
func (r *run) sendTo(at call.Target, q call.Invocation) (*call.Reply, *fault.Error) {
	reply, failure := r.Browser.Send(r.clock.ctx, at, q)
	if failure == nil || failure.Code != siteStopped || !r.tool.Browses {
		return reply, failure
	}
	r.refused = true
	message, hint := failure.Message, "Do not look for a way around it. The person can allow that site in tabrelay's "+
		"side panel (Rules)."
	if failure.Outcome != fault.NotExecuted {
		message += ": the way there led to it"
		hint += " The tab may show Chrome's own page about it, or that site: go on in another one (browser__open_tab)."
	}
	return nil, fault.New(fault.PermissionDenied, message, fault.WithTab(at.TabID, at.Profile),
		fault.WithOutcome(failure.Outcome), fault.WithHint(hint))
}

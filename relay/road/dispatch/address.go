package dispatch

import (
	"context"
	"encoding/json"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// loadedAddress returns the address that the call navigates to, and its origin; empty: the call names none.
func (r *run) loadedAddress() (address, origin string) {
	address = r.namedAddress()
	if origin, _ = match.Origin(address); origin == "" { // "back" or "forward", or an address that is refused
		return "", ""
	}
	return address, origin
}

// namedAddress is the argument with the address that the call navigates to.
func (r *run) namedAddress() (address string) {
	if members, ok := rawjson.Members(r.args); ok && r.tool.AddressArgument != "" {
		address, _ = rawjson.Text(rawjson.Get(members, r.tool.AddressArgument))
	}
	return address
}

// checkAddressSpelling refuses an address of which a browser would read other parts than stand there: the rules would
// be asked about another origin than it loads, or about none.
func (r *run) checkAddressSpelling() *fault.Error {
	_, err := match.Origin(r.namedAddress())
	if err == nil {
		return nil
	}
	return fault.New(fault.ValidationError, "The address in "+r.tool.AddressArgument+" is refused: "+err.Error(),
		fault.WithOutcome(fault.NotExecuted))
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
		r.consent.address, failure = r.Policy.Ask(ctx, access, r.call.Ask, r.tellAsked)
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

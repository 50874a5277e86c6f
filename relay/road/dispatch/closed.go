package dispatch

import (
	"context"
	"encoding/json"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// siteClosed is with what a call ends before it looks at, or does something in, a document whose site is off or to be
// asked about: one in a frame of the tab's page, for which the call was permitted.
const siteClosed fault.Code = "SITE_CLOSED"

// mostSitesAsked bounds about how many sites of frames a person is asked for one call.
const mostSitesAsked = 8

// closedSite is what the extension says of such a document.
type closedSite struct {
	Origin   string         `json:"origin"`
	State    call.SiteState `json:"state"`
	Excluded bool           `json:"excluded"` // its address is one that the configuration leaves out
}

// closedBy reads it out of a failure. Nothing was done in that document, and nothing elsewhere that would count.
func closedBy(f *fault.Error) (site closedSite, ok bool) {
	if f.Code != siteClosed || f.Outcome != fault.NotExecuted {
		return site, false
	}
	if json.Unmarshal(unquoted(f.Data), &site) != nil {
		return site, false
	}
	return site, site.Origin == "null" || strings.HasPrefix(site.Origin, "http")
}

// inSite is the call in a frame of its tab that has another site.
func (r *run) inSite(at *call.Target, origin string) call.Access {
	access := r.access(at)
	access.At = inFrame(at, origin)
	access.Approved = r.consent.sites[origin]
	access.Once = origin == "null" // who knows whose the next one would be
	access.Deeds.Frame = ""        // At is that
	return access
}

// permitSite asks the person about the site of a frame that the call is to touch; asked says that the call is to be
// sent once more. What is off stays so.
func (r *run) permitSite(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	site, ok := closedBy(why)
	if !ok || r.Policy == nil || !r.meetsSites() {
		return false, why
	}
	if refused := r.refuseSite(at, site); refused != nil {
		return false, refused
	}
	access := r.inSite(at, site.Origin)
	says, failure := r.Policy.Allow(access)
	_, before := r.consent.sites[site.Origin]
	switch {
	case failure != nil:
		return false, failure
	case before, len(r.consent.sites) >= mostSitesAsked:
		return false, why
	case !says.Ask, r.call.Consent:
		r.open(access, r.Policy.BindingOf(access)) // the person has allowed it
		return true, nil
	}
	if failure := r.foresee(at); failure != nil {
		return false, failure
	}
	access = r.inSite(at, site.Origin)
	failure = r.ask(func(ctx context.Context) *fault.Error {
		approved, failure := r.Policy.Ask(ctx, access, r.call.Ask, r.reports.announce)
		if failure == nil {
			r.open(access, approved)
		}
		return failure
	})
	return true, failure
}

// refuseSite is the refusal of a call that is for a frame whose site is off, or whose address is left out; nil: the
// person can be asked.
func (r *run) refuseSite(at *call.Target, site closedSite) *fault.Error {
	access := r.inSite(at, site.Origin)
	r.frame = access.At
	_, denied := r.Policy.Allow(access)
	switch {
	case site.Excluded:
		denied = excludedSite(access, r.tool.Name)
	case denied != nil:
		denied.Message += " (" + site.Origin + inPageOf(access.At) + ")"
	}
	r.refused = r.refused || denied != nil
	return denied
}

// open lets the call touch the documents of a site.
func (r *run) open(a call.Access, approved call.Binding) {
	if r.consent.sites == nil {
		r.consent.sites = map[string]call.Binding{}
	}
	r.consent.sites[a.At.Origin] = approved
}

// sites is which documents the call may touch in the tab that is its target: nil for a tool that runs in the page
// alone.
func (r *run) sites(at *call.Target) *call.Sites {
	if r.Policy == nil || !r.meetsSites() {
		return nil
	}
	sites := r.Policy.Sites(r.access(at))
	if _, origin := r.leadsTo(); origin != "" && r.addressAllowed(at) {
		sites.Origins[origin] = call.SiteOpen
	}
	if frame := r.deeds.Frame; frame != "" && r.consent.given() && sites.Of(frame) == call.SiteAsk {
		sites.Origins[frame] = call.SiteOpen // the question named it
	}
	for origin := range r.consent.sites {
		if says, failure := r.Policy.Allow(r.inSite(at, origin)); failure == nil && !says.Ask {
			sites.Origins[origin] = call.SiteOpen
		}
	}
	return &sites
}

// meetsSites reports whether the call may meet documents of other sites than its target's.
func (r *run) meetsSites() bool {
	t := r.tool
	return t.Browses || t.Page != nil || t.Spec.Frames == "all"
}

func inPageOf(at *call.Target) string {
	if at.Within == "" {
		return ""
	}
	return ", a frame of " + at.Within
}

// excludedSite is the failure of a call that is for a frame whose address the configuration leaves out.
func excludedSite(a call.Access, tool string) *fault.Error {
	return fault.New(fault.PermissionDenied, tool+" may not touch this page of "+a.At.Origin+inPageOf(a.At)+
		": the configuration leaves its address out", fault.WithTab(a.At.TabID, a.At.Profile),
		fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("Do not look for a way around it. The person can change the pages of `plugins.browser` in "+
			"config.json."))
}

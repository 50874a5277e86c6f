package dispatch

import (
	"context"
	"encoding/json"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// codeSiteClosed is the code with which the extension refuses to read or touch the document of a frame whose site is
// off or needs a question, in a tab for whose page the call is permitted.
const codeSiteClosed fault.Code = "SITE_CLOSED"

// maxSitesAsked is about how many sites of frames a person is asked for one call at the most.
const maxSitesAsked = 8

// closedSite is the data of a failure with codeSiteClosed.
type closedSite struct {
	Origin   string         `json:"origin"`
	State    call.SiteState `json:"state"`
	Excluded bool           `json:"excluded"` // its address is one that the configuration leaves out
}

// closedSiteOf returns the data of a failure with codeSiteClosed, if it is one and nothing was done.
func closedSiteOf(f *fault.Error) (site closedSite, ok bool) {
	if f.Code != codeSiteClosed || f.Outcome != fault.NotExecuted {
		return site, false
	}
	if json.Unmarshal(unquoteJSON(f.Data), &site) != nil {
		return site, false
	}
	return site, site.Origin == "null" || strings.HasPrefix(site.Origin, "http")
}

// accessInFrame is the call as the policy sees it in a frame of its tab with this origin.
func (r *run) accessInFrame(at *call.Target, origin string) call.Access {
	access := r.access(at)
	access.At = inFrame(at, origin)
	access.Approved = r.consent.sites[origin]
	access.Once = origin == "null" // every opaque origin is written "null": the next one may be another site's
	access.Deeds.Frame = ""        // access.At has the frame's origin already
	return access
}

// permitSite asks the person about the site of a frame that the call is to touch; asked: the call is to be sent once
// more. A site that is off is refused without a question.
func (r *run) permitSite(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	site, ok := closedSiteOf(why)
	if !ok || r.Policy == nil || !r.mayTouchOtherSites() {
		return false, why
	}
	if refused := r.refuseSite(at, site); refused != nil {
		return false, refused
	}
	access := r.accessInFrame(at, site.Origin)
	says, failure := r.Policy.Allow(access)
	_, before := r.consent.sites[site.Origin]
	switch {
	case failure != nil:
		return false, failure
	case before, len(r.consent.sites) >= maxSitesAsked:
		return false, why
	case !says.Ask, r.call.Consent:
		r.allowSite(access, r.Policy.BindingOf(access)) // the person has allowed it
		return true, nil
	}
	if failure := r.preview(at); failure != nil {
		return false, failure
	}
	access = r.accessInFrame(at, site.Origin)
	failure = r.ask(func(ctx context.Context) *fault.Error {
		approved, failure := r.Policy.Ask(ctx, access, r.call.Ask, r.tellAsked)
		if failure == nil {
			r.allowSite(access, approved)
		}
		return failure
	})
	return true, failure
}

// refuseSite is the refusal of a call that is for a frame whose site is off, or whose address is left out; nil: the
// person can be asked.
func (r *run) refuseSite(at *call.Target, site closedSite) *fault.Error {
	access := r.accessInFrame(at, site.Origin)
	r.closedFrame = access.At
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

// allowSite lets the call touch the documents of the site of a.
func (r *run) allowSite(a call.Access, approved call.Binding) {
	if r.consent.sites == nil {
		r.consent.sites = map[string]call.Binding{}
	}
	r.consent.sites[a.At.Origin] = approved
}

// sites says which documents the call may touch in its tab; nil for a tool that runs only in the tab's page.
func (r *run) sites(at *call.Target) *call.Sites {
	if r.Policy == nil || !r.mayTouchOtherSites() {
		return nil
	}
	sites := r.Policy.Sites(r.access(at))
	if _, origin := r.loadedAddress(); origin != "" && r.addressAllowed(at) {
		sites.Origins[origin] = call.SiteOpen
	}
	if frame := r.deeds.Frame; frame != "" && r.consent.given() && sites.Of(frame) == call.SiteAsk {
		sites.Origins[frame] = call.SiteOpen // the question named it
	}
	for origin := range r.consent.sites {
		if says, failure := r.Policy.Allow(r.accessInFrame(at, origin)); failure == nil && !says.Ask {
			sites.Origins[origin] = call.SiteOpen
		}
	}
	if r.looksOnArrival() {
		sites = r.whereReadable(sites, at)
	}
	return &sites
}

// mayTouchOtherSites reports whether the call may meet documents of other sites than its target's.
func (r *run) mayTouchOtherSites() bool {
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

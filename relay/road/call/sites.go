package call

import (
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/match"
)

// SiteState is what a call may do with the documents of one site.
type SiteState string

// The states of a site.
const (
	SiteOpen SiteState = "open" // it may look and act there
	SiteAsk  SiteState = "ask"  // only after the person allowed it
	SiteOff  SiteState = "off"  // never
)

// Sites says, by origin, which documents a call may touch: in its tab, in frames, and in tabs that it opens.
type Sites struct {
	Rest    SiteState            `json:"rest"`    // of every origin that is not in Origins
	Origins map[string]SiteState `json:"origins"` // by origin, such as https://example.org

	// Within is set where an administrator's policy names sites by patterns. Rest is off then, for those who do not
	// know of patterns.
	Within *SitePatterns `json:"within,omitempty"`
}

// SitePatterns are match patterns of whole sites.
type SitePatterns struct {
	Allow []string  `json:"allow"`
	Deny  []string  `json:"deny"`
	Rest  SiteState `json:"rest"` // of the origins that Allow covers and Deny does not, unless Sites.Origins names them
}

// Of is the state of one origin.
func (s *Sites) Of(origin string) SiteState {
	origin = Site(origin)
	if state, named := s.Origins[origin]; named {
		return state
	}
	if w := s.Within; w != nil {
		if rule, err := match.NewRule(w.Allow, w.Deny); err == nil && rule.Matches(origin+"/") {
			return w.Rest
		}
	}
	return s.Rest
}

// Each are the sites with other states: what change makes of them.
func (s *Sites) Each(change func(SiteState) SiteState) *Sites {
	other := Sites{Rest: change(s.Rest), Origins: make(map[string]SiteState, len(s.Origins))}
	for origin, state := range s.Origins {
		other.Origins[origin] = change(state)
	}
	if s.Within != nil {
		within := *s.Within
		within.Rest, other.Within = change(within.Rest), &within
	}
	return &other
}

// Asks reports whether there may be a site about which the person is yet to be asked.
func (s *Sites) Asks() bool {
	asks := s.Rest == SiteAsk || s.Within != nil && s.Within.Rest == SiteAsk
	for _, state := range s.Origins {
		asks = asks || state == SiteAsk
	}
	return asks
}

var rootDot = lazyregexp.New(`\.(:[0-9]+)?$`)

// Site is the origin that rules have for one that a browser tells: example.org. is the host example.org, spelled to the
// root of the domain names, and another origin to browsers.
func Site(origin string) string {
	if !strings.HasSuffix(origin, ".") && !strings.Contains(origin, ".:") {
		return origin
	}
	return rootDot.ReplaceAllString(origin, "$1")
}

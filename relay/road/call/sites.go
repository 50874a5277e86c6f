package call

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
}

// Of is the state of one origin.
func (s *Sites) Of(origin string) SiteState {
	if state, named := s.Origins[origin]; named {
		return state
	}
	return s.Rest
}

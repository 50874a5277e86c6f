package relay

import (
	"tabrelay/relay/hub"
	"tabrelay/relay/registry"
)

// open is what is open in the browsers, as lists of tools adapt to it.
type open struct{ hub *hub.Hub }

// Site reports whether a page of a site is open.
func (o open) Site(s *registry.Site) bool { return o.hub.HasTab(s.Matches, s.Excludes) }

// Profiles counts those that are connected.
func (o open) Profiles() (n int) {
	for _, b := range o.hub.Browsers() {
		if b.Connected {
			n++
		}
	}
	return n
}

// OnChange calls changed when a tab shows another page, and when a browser comes or goes.
func (o open) OnChange(changed func()) (stop func()) {
	return o.hub.OnTabs(func(n hub.TabNews) {
		if n.Page || n.TabID == 0 {
			changed()
		}
	})
}

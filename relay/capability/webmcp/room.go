package webmcp

import (
	"maps"
	"slices"
)

// roomForSite makes room for one more site: the one whose tools are gone and were listed longest ago is forgotten.
func (b *Book) roomForSite() bool {
	if len(b.sites) < mostSites {
		return true
	}
	oldest := ""
	for origin, s := range b.sites {
		if !s.alive() && (oldest == "" || s.offered.Before(b.sites[oldest].offered)) {
			oldest = origin
		}
	}
	delete(b.sites, oldest)
	return oldest != ""
}

// alive reports whether a page has one of the site's tools.
func (s *site) alive() bool {
	for _, k := range s.tools {
		if len(k.live) > 0 {
			return true
		}
	}
	return false
}

// room makes room for one more tool of a site, and among those of all sites.
func (b *Book) room(s *site) bool {
	if len(s.tools) >= b.options.ToolsPerSite {
		return b.forget(s)
	}
	listed := 0
	for _, one := range b.sites {
		listed += len(one.tools)
	}
	if listed < mostListed {
		return true
	}
	return b.forget(slices.Collect(maps.Values(b.sites))...)
}

// forget forgets the tool of some sites that is gone longest; false when none is.
func (b *Book) forget(of ...*site) bool {
	var in *site
	oldest := ""
	for _, s := range of {
		for name, k := range s.tools {
			if len(k.live) == 0 && k.seen < b.count && (in == nil || k.seen < in.tools[oldest].seen ||
				k.seen == in.tools[oldest].seen && name < oldest) {
				in, oldest = s, name
			}
		}
	}
	if in == nil {
		return false
	}
	delete(in.tools, oldest)
	in.changed = true
	return true
}

func (s *site) taken(name string) bool {
	for _, k := range s.tools {
		if k.name == name {
			return true
		}
	}
	return false
}

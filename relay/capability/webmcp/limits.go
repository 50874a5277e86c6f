package webmcp

import (
	"maps"
	"slices"
)

// roomForSite makes room for one more site: the one whose tools are gone and were listed longest ago is forgotten.
func (x *Index) roomForSite() bool {
	if len(x.sites) < mostSites {
		return true
	}
	oldest := ""
	for origin, s := range x.sites {
		if !s.alive() && (oldest == "" || s.offered.Before(x.sites[oldest].offered)) {
			oldest = origin
		}
	}
	delete(x.sites, oldest)
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
func (x *Index) room(s *site) bool {
	if len(s.tools) >= x.options.ToolsPerSite {
		return x.forget(s)
	}
	listed := 0
	for _, one := range x.sites {
		listed += len(one.tools)
	}
	if listed < mostListed {
		return true
	}
	return x.forget(slices.Collect(maps.Values(x.sites))...)
}

// forget forgets the tool of some sites that is gone longest; false when none is.
func (x *Index) forget(of ...*site) bool {
	var in *site
	oldest := ""
	for _, s := range of {
		for name, k := range s.tools {
			if len(k.live) == 0 && k.seen < x.count && (in == nil || k.seen < in.tools[oldest].seen ||
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

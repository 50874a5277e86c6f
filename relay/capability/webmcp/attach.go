package webmcp

import (
	"tabrelay/relay/capability"
	"tabrelay/relay/state/config"
)

// Capability is the tools of pages, as a program attaches it.
var Capability = capability.Capability{Name: "webmcp", Settings: section, New: attach}

// settings are how much of what pages register agents are told.
type settings struct {
	ToolsPerSite     int
	DescriptionBytes int
	SchemaBytes      int
}

var section = &config.Section[settings]{
	Capability: "webmcp", Switch: "webmcp.enabled", Right: "noPageTools",
	About: "Whether agents get the tools that pages register (WebMCP), of the pages that tabs.urlPatterns covers.",
	Settings: []config.Setting[settings]{
		config.Row("webmcp.toolsPerSite", config.Count(1, 512), 64, func(s *settings) any { return &s.ToolsPerSite },
			"How many tools of one origin are offered, those that are gone included; beyond that the ones gone "+
				"longest are forgotten, and new ones left out."),
		config.Row("webmcp.descriptionBytes", config.Size(64, 8*config.KiB), 1*config.KiB,
			func(s *settings) any { return &s.DescriptionBytes },
			"How much of a page's description of a tool agents are told."),
		config.Row("webmcp.schemaBytes", config.Size(256, 64*config.KiB), 8*config.KiB,
			func(s *settings) any { return &s.SchemaBytes },
			"How large the schema of its arguments may be. In place of a larger one, any arguments are taken and the "+
				"description says so."),
	},
}

// attach makes the index of a relay.
func attach(core capability.Core) capability.Attachment {
	c, log := section.Of(core.Config), core.Log("pages")
	x := New(Options{
		ToolsPerSite: c.ToolsPerSite, DescriptionBytes: c.DescriptionBytes, SchemaBytes: c.SchemaBytes,
		Offer: core.OfferPageTools,
		Problem: func(origin, reason string) {
			log.Warn().Str("origin", origin).Msg("tools of a page: " + reason)
		},
	})
	return capability.Attachment{PageTools: x, TabGone: x.Gone, Close: x.Close}
}

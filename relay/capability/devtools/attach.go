// Package devtools is the tools for developers: console, network, cookies and the like of any page. They are a plugin
// made of the extension's sources (extension/src/browser/dev), called, asked about and checked as any other; what is
// here is whether a program has them.
package devtools

import (
	"tabrelay/relay/capability"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// Capability is the tools for developers, as a program attaches them.
var Capability = capability.Capability{
	Name: "devtools", New: func(capability.Core) capability.Attachment { return capability.Attachment{} },
	Settings: &config.Section[struct{}]{
		Capability: "devtools", Plugin: plugin.OptIn,
		About: "Whether there are tools for developers, which plugins." + plugin.OptIn + ".enabled switches on.",
	},
}

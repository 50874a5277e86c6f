package call

// Delegation says that a delegated agent makes the calls of a session, for whom, and what it may use at the most. What
// it does not bound is as for the client that asked it.
type Delegation struct {
	Agent   string // id of the agent
	Session string // id of the agent session, as sessions_create answers it
	Asker   string // ID of the session that asked the agent

	Tools    []string // names of tools and plugins that it may use; empty: those that the asker may
	Tabs     []string // ids of tabs and URL match patterns of pages that it may work in; empty: as the asker
	ReadOnly bool     // only tools that read

	Color string // of the groups of its tabs, and in the side panel: one of [Colors]
}

// Colors are Chrome's for tab groups, without grey: that is what groups of people have who choose none.
// https://developer.chrome.com/docs/extensions/reference/api/tabGroups#type-Color
var Colors = [...]string{"blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"}

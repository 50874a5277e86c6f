package registry

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/fault"
)

// UnknownTool is the failure of a call of a tool that does not exist. It names the tool that was probably meant: one
// that the caller may see, of the same plugin, that changes no more than the name says. rank finds tools by the words
// of a name, the best first; it may be nil.
func (s *Snapshot) UnknownTool(name string, shows func(*Tool) bool, rank func(name string) []*Tool) *fault.Error {
	message := fmt.Sprintf("There is no tool named %q", fault.Excerpt(name))
	site, own, qualified := strings.Cut(name, "__")
	if !qualified {
		site, own = "", name
	}
	candidates := map[string]*Tool{} // by their names without the plugin's
	var names []string
	for _, t := range s.Tools {
		of, short, _ := strings.Cut(t.Name, "__")
		if (of == site || !qualified && short == own) && shows(t) {
			candidates[short] = t
			names = append(names, short)
		}
	}
	if len(names) == 0 {
		if why := s.waits(site); why != "" {
			return fault.New(fault.PluginNotReviewed, message+", and the plugin "+site+" is off: "+why)
		}
	}
	if t := candidates[suggest.Nearest(own, names)]; t != nil && (qualified || len(names) == 1) && s.within(own, t) {
		return didYouMean(message, t)
	}
	if rank != nil {
		for _, t := range rank(name) {
			of, _, _ := strings.Cut(t.Name, "__")
			if (of == site || !qualified) && t.ReadOnly && shows(t) {
				return didYouMean(message, t)
			}
		}
	}
	return fault.New(fault.UnknownTool, message)
}

func didYouMean(message string, t *Tool) *fault.Error {
	return fault.New(fault.UnknownTool, message+"; did you mean "+t.Name+"?",
		fault.WithHint("Use a name that the list of tools or relay__search_tools gives."))
}

// within reports whether a tool changes no more than a name says: it only reads, or the name begins with the same verb,
// or with a misspelling of it, which is nearer to it than to every other word.
func (s *Snapshot) within(name string, t *Tool) bool {
	verb, does := firstWord(strings.ToLower(name)), firstWord(strings.ToLower(ownName(t.Name)))
	if t.ReadOnly || verb == does {
		return true
	}
	far := suggest.Distance(verb, does)
	nearer := func(other string) bool { return other != does && suggest.Distance(verb, other) <= far }
	for word := range vocabulary() {
		if nearer(word) {
			return false
		}
	}
	return !slices.ContainsFunc(s.Tools, func(other *Tool) bool {
		return nearer(firstWord(strings.ToLower(ownName(other.Name))))
	})
}

func ownName(tool string) string {
	_, own, _ := strings.Cut(tool, "__")
	return own
}

func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return word
}

// waits is why the tools of a plugin are off until a person accepts them; empty where they are not.
func (s *Snapshot) waits(site string) string {
	for tool, why := range s.withheld {
		if strings.HasPrefix(tool, site+"__") {
			return why
		}
	}
	return ""
}

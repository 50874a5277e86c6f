package install

import (
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

// Only what says that it is a package of npm is fetched from there: a word that may be something else is refused first,
// with what to write for each.
func TestAWordAloneIsNoPackage(t *testing.T) {
	s := Source{Shipped: []string{"mediawiki"}}
	for from, want := range map[string]struct{ message, hint string }{
		"slack":                               {"may be the plugin slack of the index", "//plugins/slack#"},
		"slack@1.0.0":                         {"may be the plugin slack of the index", "npm:slack@1.0.0"},
		"opentabs-plugin-slack":               {"may be the plugin slack of the index", "npm:opentabs-plugin-slack"},
		"@tabrelay/opentabs-plugin-slack":     {"may be the plugin slack of the index", "//plugins/slack#"},
		"mediawiki":                           {"comes with tabrelay", "npm:mediawiki"},
		"left-pad":                            {"neither a plugin of the index", "npm:left-pad"},
		"@ann/left-pad":                       {"neither a plugin of the index", "npm:@ann/left-pad"},
		"Slack":                               {"neither a folder", ""},
		"npm:slack":                           {},
		"@opentabs-dev/opentabs-plugin-slack": {}, // that of the index, by its whole name
		"tabrelay-plugin-of-nobody":           {},
		"@ann/tabrelay-plugin-tea":            {},
		"slack.tgz":                           {},
		"github:ann/slack":                    {},
	} {
		s.From = from
		err := s.checkMeant(t.TempDir())
		if want.message == "" && err == nil {
			continue
		}
		if err == nil || want.message == "" || !strings.Contains(err.Error(), want.message) ||
			!strings.Contains(fault.HintOf(err), want.hint) {
			t.Errorf("%s: %v (%s)", from, err, fault.HintOf(err))
		}
	}
}

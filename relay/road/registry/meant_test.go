package registry

import (
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

func TestMeantToolIsOfTheSamePluginAndChangesNoMore(t *testing.T) {
	s := &Snapshot{withheld: map[string]string{"slack__send_message": "nobody has reviewed it yet"}}
	for _, name := range []string{
		"discord__send_message", "mail__delete_message", "mail__set_flag", "wiki__edit_page", "wiki__get_page!",
		"wiki__list_pages!", "hidden__get_secret!", "chat__remove_message",
	} {
		name, reads := strings.CutSuffix(name, "!")
		s.Tools = append(s.Tools, &Tool{Name: name, ReadOnly: reads})
	}
	shows := func(tool *Tool) bool { return !strings.HasPrefix(tool.Name, "hidden") }
	for _, c := range []struct{ name, said string }{
		{"slack__send_mesage", "the plugin slack is off: nobody has reviewed it yet"},
		{"teams__send_message", ""}, // another site's tool is never meant
		{"wiki__edit_pge", "did you mean wiki__edit_page?"},
		{"wiki__get_pge", "did you mean wiki__get_page?"},
		{"mail__get_flag", ""}, // it would set the flag
		{"mail__gte_flag", ""}, // as near to get as to set
		{"mail__see_flag", ""},
		{"chat__move_message", ""}, // a word of its own
		{"chat__remve_message", "did you mean chat__remove_message?"},
		{"mail__delete_mesage", "did you mean mail__delete_message?"},
		{"mail__dlete_message", "did you mean mail__delete_message?"},
		{"edit_page", "did you mean wiki__edit_page?"},
		{"send_mesage", ""},
		{"hidden__get_secre", ""},
		{"", ""},
	} {
		failure := s.UnknownTool(c.name, shows, nil)
		if c.said == "" && strings.ContainsAny(failure.Message, ";,") || !strings.Contains(failure.Message, c.said) {
			t.Errorf("%q: %s", c.name, failure.Message)
		}
	}
	if f := s.UnknownTool("slack__send_mesage", shows, nil); f.Code != fault.PluginNotReviewed {
		t.Error(f.Code)
	}
	rank := func(string) []*Tool { return s.Tools }
	if f := s.UnknownTool("wiki__pages", shows, rank); !strings.Contains(f.Message, "wiki__get_page") {
		t.Error(f.Message)
	}
	if f := s.UnknownTool("other__pages", shows, rank); f.Message != `There is no tool named "other__pages"` {
		t.Error(f.Message)
	}
}

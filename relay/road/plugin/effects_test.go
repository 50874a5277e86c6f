package plugin

import (
	"slices"
	"testing"
)

func named(names ...string) (tools []Tool) {
	for _, name := range names {
		tools = append(tools, Tool{Name: name})
	}
	return tools
}

func TestSuggestReading(t *testing.T) {
	claims := Tool{Name: "get_cart", Annotations: Annotations{ReadOnlyHint: new(bool)}}
	for name, c := range map[string]struct {
		tools []Tool
		want  []string
	}{
		"by their beginning":     {named("list_teas", "list_cups", "get_tea", "send_tea"), []string{"get_*", "list_*"}},
		"not where one is not":   {named("get_tea", "get_cup", "get_or_create_tea"), []string{"get_tea", "get_cup"}},
		"nothing that changes":   {named("create_tea", "delete_tea", "getaway", "mark_read"), nil},
		"not what says it":       {[]Tool{claims}, nil},
		"a doubtful one by name": {named("find_and_delete_tea"), nil},
	} {
		if got := SuggestReading(c.tools); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestHintsOfThePersonSetAnnotations(t *testing.T) {
	no := false
	p := Plugin{Hash: "abc", Manifest: Manifest{Tools: append(named("list_teas", "list_old", "send_tea"),
		Tool{Name: "list_mine", Annotations: Annotations{DestructiveHint: &no}})}}
	got := p.Annotate([]Hint{{"list_*", Reads}, {"list_old", Destroys}, {"send_*", Writes}})
	effects := map[string]Effect{}
	for _, tool := range got.Manifest.Tools {
		a := tool.Annotations
		switch {
		case a.ReadOnlyHint == nil:
			effects[tool.Name] = Unsaid
		case *a.ReadOnlyHint:
			effects[tool.Name] = Reads
		case *a.DestructiveHint:
			effects[tool.Name] = Destroys
		default:
			effects[tool.Name] = Writes
		}
	}
	want := map[string]Effect{"list_teas": Reads, "list_old": Destroys, "send_tea": Writes, "list_mine": Unsaid}
	for name, effect := range want {
		if effects[name] != effect {
			t.Errorf("%s: %q, want %q", name, effects[name], effect)
		}
	}
	if !p.Manifest.Tools[0].SaysNothing() || got.Hash != p.Hash {
		t.Error("the plugin itself was changed")
	}
	for pattern, want := range map[string]bool{"list_*": true, "": false, "a b": false, "list_[a]": false, "*": true} {
		if ValidPattern(pattern) != want {
			t.Errorf("%q is a pattern: %t", pattern, !want)
		}
	}
}

package registry_test

import (
	"slices"
	"strings"
	"testing"

	"tabrelay/adapters"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// The tools for developers have names of the browser's tools, but are a plugin of their own: whoever gets the one does
// not get the other.
func TestDeveloperToolsAreApart(t *testing.T) {
	files, err := adapters.Files()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := plugin.LoadFS(files)
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(nil)
	if err := r.Replace(shipped, map[string]registry.Configured{plugin.OptIn: {Disabled: true}}); err != nil {
		t.Fatal(err)
	}
	const name = "browser__evaluate"
	failure := r.Snapshot().Withheld(name)
	if _, offered := r.Snapshot().Find(name); offered || failure == nil || failure.Code != fault.PermissionDenied ||
		!strings.Contains(failure.Hint, "config set plugins.browser-dev.enabled true") {
		t.Errorf("offered %t, refused with %v", offered, failure)
	}
	if err := r.Replace(shipped, nil); err != nil {
		t.Fatal(err)
	}
	for toolset, want := range map[string][]bool{"browser": {true, false}, "browser-dev": {false, true},
		"all": {true, true}, "browser,browser-dev": {true, true}, "gateway": {false, false}} {
		set, err := registry.ParseToolset(toolset)
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, name := range []string{"browser__snapshot", name} {
			tool, ok := r.Snapshot().Find(name)
			if !ok {
				t.Fatalf("there is no %s", name)
			}
			if tool.Group != plugin.Owner(name) || !tool.Browses {
				t.Errorf("%s is of %s", name, tool.Group)
			}
			got = append(got, set.Shows(tool))
		}
		if !slices.Equal(got, want) {
			t.Errorf("toolset %s shows %v", toolset, got)
		}
	}
}

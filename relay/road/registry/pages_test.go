package registry

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/road/plugin"
)

func TestToolsOfPages(t *testing.T) {
	r := New(nil)
	browser := plugin.Plugin{Shipped: true, Manifest: plugin.Manifest{Name: plugin.Browser, World: plugin.Isolated,
		URLPatterns: []string{"*://*/*"}, Tools: []plugin.Tool{{Name: "snapshot", Description: "d",
			InputSchema: json.RawMessage(`{"type":"object"}`)}}}}
	if err := r.Replace([]plugin.Plugin{browser}, nil); err != nil {
		t.Fatal(err)
	}
	spec := plugin.Tool{Name: "t", DisplayName: "T", Description: "d",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
	other := spec
	other.Description = "other"
	tool := PageTool{Name: "web__a_example__t", Spec: spec, Page: Page{Origin: "https://a.example", Name: "t", Key: "1",
		In: func(tab int) bool { return tab < 2 }}, Also: []PageTool{{Name: "web__a_example__t", Spec: other,
		Page: Page{Origin: "https://a.example", Name: "t", Key: "2", In: func(tab int) bool { return tab == 2 }}}}}
	listing := r.Snapshot().Listing
	r.SetPageTools([]PageTool{tool})
	found, ok := r.Snapshot().Find("web__a_example__t")
	if !ok || found.Group != Web || found.Browses {
		t.Fatalf("found %+v, %t", found, ok)
	}
	if r.Snapshot().Listing != listing || r.Snapshot().Pages == 0 {
		t.Error("other tools are listed otherwise")
	}
	if found.ForTab(1) != found || found.ForTab(2).Spec.Description != "other" || found.ForTab(3) != found {
		t.Error("the tab does not choose")
	}
	if err := r.Replace([]plugin.Plugin{browser}, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Snapshot().Find("web__a_example__t"); !ok {
		t.Error("lost when plugins were read again")
	}
	r.SetPageTools([]PageTool{tool, tool})
	if n := len(r.Snapshot().Tools); n != 2 {
		t.Errorf("%d tools", n)
	}
	if err := r.Replace(nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, there := r.Snapshot().Find("web__a_example__t"); there {
		t.Error("it is there without the browser's tools")
	}
}

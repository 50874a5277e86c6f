package match

import "testing"

func TestTabsOutsideTheBoundsAreNotCovered(t *testing.T) {
	tests := []struct {
		bounds  []string
		id      int
		address string
		want    bool
	}{
		{nil, 7, "https://a.example/", true},
		{[]string{"7"}, 7, "https://a.example/", true},
		{[]string{"7"}, 8, "https://a.example/", false},
		{[]string{"7"}, 0, "https://a.example/", false},
		{[]string{"7", "https://a.example/*"}, 8, "https://a.example/x", true},
		{[]string{"https://a.example/*"}, 8, "https://b.example/https://a.example/", false},
		{[]string{"https://a.example/*"}, 8, "https://a.example@b.example/", false},
		{[]string{"https://a.example/*"}, 8, "about:blank", false},
		{[]string{"https://a.example/*"}, 0, "https://a.example/new", true},
	}
	for _, test := range tests {
		tabs, err := NewTabs(test.bounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := tabs.Covers(test.id, test.address); got != test.want || tabs.Bound() != (test.bounds != nil) {
			t.Errorf("%v covers tab %d with %s: %t", test.bounds, test.id, test.address, got)
		}
	}
	for _, text := range []string{"", "0", "-3", "7x", "example.org", "javascript:alert(1)"} {
		if _, err := NewTabs([]string{text}); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

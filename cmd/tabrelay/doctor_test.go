package main

import (
	"testing"

	"tabrelay/relay/program/doctor"
)

// What a finding says that --fix does is done.
func TestEachFixIsThere(t *testing.T) {
	for id := range doctor.Fixes {
		if repair, name := new(app).repairOf(id); repair == nil || name == "" {
			t.Errorf("nothing is done about %s", id)
		}
	}
}

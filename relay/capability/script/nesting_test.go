//go:build !race

package script

import "testing"

// What nests deep takes a program with the race detector longer than a script may compute.

// Arguments and what is returned nest no deeper than can be read.
func TestValuesThatNestTooDeep(t *testing.T) {
	s := newStage(t, nil)
	s.fails("let a = {}; for (let i = 0; i < 9_998; i++) a = {a}; await tools.wiki.getPage(a)", scriptFailed,
		"nest too deep", "It made no calls.")
	s.fails("let a = []; for (let i = 0; i < 10_001; i++) a = [a]; return a", scriptFailed, "nests too deep")
}

package lazyregexp

import (
	"regexp"
	"testing"
)

func TestATestFindsAnExpressionThatCannotBe(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("( was taken for an expression")
		}
	}()
	New("(")
}

func TestAProgramCompilesWhatItUses(t *testing.T) {
	inTest = false
	defer func() { inTest = true }()
	r := New("(")
	if r.String() != "(" {
		t.Errorf("it is %q", r.String())
	}
	if r = New("a+"); !r.MatchString("caat") || r.ReplaceAllString("caat", "u") != "cut" {
		t.Error("a+ is not found in caat")
	}
}

// What is not used yet costs the start next to nothing: that is what the package is for.
func TestWhatIsNotUsedIsNotCompiled(t *testing.T) {
	inTest = false
	defer func() { inTest = true }()
	const expression = `^(?:[a-z]{1,128}|\d{1,64})$`
	later := testing.AllocsPerRun(10, func() { New(expression) })
	atOnce := testing.AllocsPerRun(10, func() { regexp.MustCompile(expression) })
	if later > 5 || atOnce < 100 {
		t.Errorf("%.0f allocations, and %.0f at once", later, atOnce)
	}
}

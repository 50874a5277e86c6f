package result

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/fault"
)

// TestMain lets this test's own binary be the process that evaluates.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == JQCommand {
		jqTime = 500 * time.Millisecond
		os.Exit(ServeJQ(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestApart(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	evaluate := Apart(executable)
	for _, test := range []struct{ doc, expression, value, problem string }{
		{`{"a":[1,12345678901234567890]}`, ".a[1]", `12345678901234567890`, ""},
		{`{"a":[1,2]}`, ".a[]", `[1,2]`, ""},
		{`"ä\n"`, ".", `"ä\n"`, ""},
		{`1`, "$ENV, env", `[{},{}]`, ""},
		{`1`, ".[", "", "unexpected EOF at character 3"},
		{`1`, ".a", "", "expected an object"},
		{`1`, `"x" * 2e9`, "", "it "},
		{`1`, "last(repeat(1))", "", "it takes too long"},
		// Steps that nothing interrupts, and that never end by themselves.
		{`1`, "reduce range(60) as $i (0; [., .]) | tojson | length", "", "it "},
		{`1`, "reduce range(60) as $i (0; [., .]) as $a | reduce range(60) as $i (0; [., .]) | . == $a", "", "it takes too long"},
		{`1`, "reduce range(3000000) as $i (0; [.]) | tojson | length", "", "it "},
	} {
		value, failure := evaluate(t.Context(), []byte(test.doc), test.expression)
		switch {
		case test.problem == "" && (failure != nil || string(value) != test.value):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		case test.problem != "" && (failure == nil || failure.Code != fault.ValidationError || failure.Hint == "" || !strings.Contains(failure.Message, test.problem)):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, failure := evaluate(ctx, []byte("1"), "last(repeat(1))"); failure == nil || failure.Code != fault.Cancelled {
		t.Error(failure)
	}
}

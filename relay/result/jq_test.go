package result

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/fault"
)

// hasty is a folder in which an evaluation has little time. Elsewhere it has as much as a busy machine may need.
const hasty = "hasty"

// TestMain lets this test's own binary be the process that evaluates.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == JQCommand {
		jqTime = time.Minute
		if dir, err := os.Getwd(); err == nil && filepath.Base(dir) == hasty {
			jqTime = 500 * time.Millisecond
		}
		os.Exit(ServeJQ(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestExpressionRunsInItsOwnProcess(t *testing.T) {
	defer func(limit time.Duration) { jqTime = limit }(jqTime)
	jqTime = time.Minute
	for _, test := range []struct{ doc, expression, value, problem string }{
		{`{"a":[1,12345678901234567890]}`, ".a[1]", `12345678901234567890`, ""},
		{`{"a":[1,2]}`, ".a[]", `[1,2]`, ""},
		{`"ä\n"`, ".", `"ä\n"`, ""},
		{`1`, "$ENV, env", `[{},{}]`, ""},
		{`1`, ".[", "", "unexpected EOF at character 3"},
		{`1`, ".a", "", "expected an object"},
	} {
		value, failure := apart(t)(t.Context(), []byte(test.doc), test.expression)
		switch {
		case test.problem == "" && (failure != nil || string(value) != test.value):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		case test.problem != "" && (failure == nil || failure.Code != fault.ValidationError || failure.Hint == "" ||
			!strings.Contains(failure.Message, test.problem)):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		}
	}
}

func apart(t *testing.T) Evaluator {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Apart(executable)
}

func TestExpressionIsStoppedAtItsLimits(t *testing.T) {
	folder := filepath.Join(t.TempDir(), hasty)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	evaluate := apart(t)
	for expression, problem := range map[string]string{
		`"x" * 2e9`:       "it ",
		"last(repeat(1))": "it takes too long",
		// Steps that nothing interrupts, and that never end by themselves.
		"reduce range(60) as $i (0; [., .]) | tojson | length":                                    "it ",
		"reduce range(60) as $i (0; [., .]) as $a | reduce range(60) as $i (0; [., .]) | . == $a": "it takes too long",
		"reduce range(3000000) as $i (0; [.]) | tojson | length":                                  "it ",
	} {
		if value, failure := evaluate(t.Context(), []byte("1"), expression); failure == nil ||
			failure.Code != fault.ValidationError || failure.Hint == "" || !strings.Contains(failure.Message, problem) {
			t.Errorf("%s: %s, %v", expression, value, failure)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, failure := evaluate(ctx, []byte("1"), "last(repeat(1))"); failure == nil || failure.Code != fault.Cancelled {
		t.Error(failure)
	}
}

package result

import (
	"context"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/fault"
)

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
		value, failure := jq(t.Context(), []byte(test.doc), test.expression)
		switch {
		case test.problem == "" && (failure != nil || string(value) != test.value):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		case test.problem != "" && (failure == nil || failure.Code != fault.ValidationError || failure.Hint == "" ||
			!strings.Contains(failure.Message, test.problem)):
			t.Errorf("%s: %s, %v", test.expression, value, failure)
		}
	}
}

func TestExpressionIsStoppedAtItsLimits(t *testing.T) {
	defer func(limit time.Duration) { jqTime = limit }(jqTime)
	jqTime = 500 * time.Millisecond
	for expression, problem := range map[string]string{
		`"x" * 2e9`:       "it ",
		"last(repeat(1))": "it takes too long",
		// Steps that nothing interrupts, and that never end by themselves.
		"reduce range(60) as $i (0; [., .]) | tojson | length":                                    "it ",
		"reduce range(60) as $i (0; [., .]) as $a | reduce range(60) as $i (0; [., .]) | . == $a": "it takes too long",
		"reduce range(3000000) as $i (0; [.]) | tojson | length":                                  "it ",
	} {
		if value, failure := jq(t.Context(), []byte("1"), expression); failure == nil ||
			failure.Code != fault.ValidationError || failure.Hint == "" || !strings.Contains(failure.Message, problem) {
			t.Errorf("%s: %s, %v", expression, value, failure)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, failure := jq(ctx, []byte("1"), "last(repeat(1))"); failure == nil || failure.Code != fault.Cancelled {
		t.Error(failure)
	}
}

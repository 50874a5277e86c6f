package call

import (
	"fmt"
	"strings"
	"testing"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

func TestReadTrace(t *testing.T) {
	good := "00-" + traceID + "-" + spanID + "-01"
	for _, c := range []struct{ name, parent, state, want, wantState string }{
		{"both", good, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", good, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"},
		{"flags that nobody knows yet are not passed on", good[:53] + "ff", "", good[:53] + "03", ""},
		{"of a version to come what is known is read", "cc" + good[2:] + "-more", "a=1", good, "a=1"},
		{"none", "", "a=1", "", ""},
		{"more than version 00 has", good + "-more", "", "", ""},
		{"the version that is none", "ff" + good[2:], "", "", ""},
		{"no trace", "00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", "", "", ""},
		{"no span", "00-" + traceID + "-" + strings.Repeat("0", 16) + "-01", "", "", ""},
		{"capitals", strings.ToUpper(good), "", "", ""},
		{"a line break", good + "\n", "", "", ""},
		{"a header of its own", good + "\r\nAuthorization: x", "", "", ""},
		{"too long", "cc" + good[2:] + "-" + strings.Repeat("x", 512), "", "", ""},
		{"a state with a line break", good, "a=1\r\nb: 2", good, ""},
		{"a state without a value", good, "a=", good, ""},
		{"a state with one key twice", good, "a=1,a=2", good, ""},
		{"a tenant", good, "t@v=x, ,b=2", good, "t@v=x, ,b=2"},
		{"a state of 512 bytes", good, "a=" + strings.Repeat("x", 254) + ",b=" + strings.Repeat("x", 253),
			good, "a=" + strings.Repeat("x", 254) + ",b=" + strings.Repeat("x", 253)},
		{"one of 513", good, "a=" + strings.Repeat("x", 254) + ",b=" + strings.Repeat("x", 254), good, ""},
		{"32 members", good, members(32), good, members(32)},
		{"33", good, members(33), good, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ReadTrace(c.parent, c.state); got.Parent() != c.want || got.State != c.wantState {
				t.Errorf("read %q with %q", got.Parent(), got.State)
			}
		})
	}
}

// members is a tracestate of so many.
func members(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("k%d=1", i)
	}
	return strings.Join(all, ",")
}

func TestTraceWithinACall(t *testing.T) {
	outer := ReadTrace("00-"+traceID+"-"+spanID+"-01", "a=1")
	id := ID("00112233445566778899aabbccddeeff")
	if got := outer.Within(id); got != (Trace{traceID, "0011223344556677", "01", "a=1"}) {
		t.Errorf("%+v", got)
	}
	for _, id := range []ID{"", "7", "0000000000000000ffff", "\r\n112233445566778"} {
		if got := outer.Within(id); ReadTrace(got.Parent(), "").ID != traceID {
			t.Errorf("%q: the span is %q", id, got.Span)
		}
	}
	if got := (Trace{}).Within(id); got != (Trace{}) || got.Parent() != "" {
		t.Errorf("%+v", got)
	}
}

// Whatever a client sends, what is passed on is one line of printable ASCII that reads the same again.
func FuzzReadTrace(f *testing.F) {
	f.Add("00-"+traceID+"-"+spanID+"-01", "a=1,b@c=2")
	f.Fuzz(func(t *testing.T, parent, state string) {
		ReadTrace(parent, state).Within("00112233445566778899aabbccddeeff").Each(func(name, value string) {
			if len(value) > maxTraceState || strings.ContainsFunc(value, func(r rune) bool {
				return (r < ' ' || r > '~') && r != '\t'
			}) {
				t.Errorf("%s: %q", name, value)
			}
		})
	})
}

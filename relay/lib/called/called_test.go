package called

import (
	"strings"
	"testing"
)

func TestTextsNameTheCommandThatThePersonHas(t *testing.T) {
	t.Cleanup(func() { current.Store(nil) })
	commands := map[string]bool{"up": true, "down": true, "doctor": true, "permit": true}
	const (
		two     = "run: tabrelay down, then tabrelay up"
		quoted  = "Ask the person to run `tabrelay doctor`: it says why."
		none    = "tabrelay goes on by itself; the tabrelay program was updated."
		byPanel = "Change it in tabrelay's side panel, or with `tabrelay permit`."
	)
	if In(two) != two || !Somehow() || Line() != Program {
		t.Errorf("before it is known: %q", In(two))
	}
	Set(Program, "/opt/tabrelay", commands)
	if In(two) != two || !Somehow() || Line() != "/opt/tabrelay" { // agents learn no folder
		t.Errorf("installed: %q", In(two))
	}

	if got := Exactly(two); got != "run: /opt/tabrelay down, then /opt/tabrelay up" || Exactly(got) != got {
		t.Errorf("the person is told %q", got)
	}
	Set(Npx, Npx, commands)
	if got := Exactly(In(two)); got != In(two) {
		t.Errorf("npx: the person is told %q", got)
	}
	for text, want := range map[string]string{
		two:     "run: npx tabrelay down, then npx tabrelay up",
		quoted:  "Ask the person to run `npx tabrelay doctor`: it says why.",
		none:    none,
		byPanel: "Change it in tabrelay's side panel, or with `npx tabrelay permit`.",
	} {
		if got := In(text); got != want || In(got) != want || !Somehow() {
			t.Errorf("npx: %q gives %q, and then %q", text, got, In(got))
		}
	}

	Set("", "", commands)
	for _, text := range []string{none, byPanel} {
		if got := In(text); got != text {
			t.Errorf("bundle: %q gives %q", text, got)
		}
	}
	for _, text := range []string{two, quoted} {
		got := In(text)
		if !strings.HasPrefix(got, strings.TrimRight(text, ".")+". The person has tabrelay from a desktop bundle") ||
			!strings.Contains(got, "side panel") || In(got) != got || Somehow() {
			t.Errorf("bundle: %q gives %q", text, got)
		}
	}
}

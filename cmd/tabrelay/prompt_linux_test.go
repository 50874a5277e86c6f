package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
)

// pseudoTerminal is a terminal whose person the test is.
func pseudoTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return person, terminal
}

// TestALineOfBeforeIsNoAnswer: what was typed for one question, whole or begun, does not answer the next one.
func TestALineOfBeforeIsNoAnswer(t *testing.T) {
	person, tty := pseudoTerminal(t)
	types := func(text string) {
		t.Helper()
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	p := &prompt{app: &app{terminal: terminal{err: io.Discard}}, terminal: &controllingTerminal{tty, tty}}
	for _, id := range []string{"first", "second", "third"} {
		p.show(call.Approval{ID: id, Sentence: "May it?", Choices: []string{"once"}})
	}
	types("yes\n") // which is read once the next question is there
	typed := <-p.typed
	p.endedElsewhere(policy.Ended{ID: "first", How: "it was answered in the panel"})
	p.reply(t.Context(), typed, true) // would send an answer, and end
	if len(p.open) == 0 || p.open[0].ID != "second" {
		t.Fatal("a whole line of before answered")
	}
	types("ye")
	p.endedElsewhere(policy.Ended{ID: "second", How: "nobody answered in time"})
	types("s\n")
	if typed := <-p.typed; typed.text != "s\n" {
		t.Errorf("the answer begins with what was typed before: %q", typed.text)
	}
}

// TestOneQuestionAfterTheOther: each of several questions has its answer, and one that ended before it was shown is not
// asked.
func TestOneQuestionAfterTheOther(t *testing.T) {
	person, tty := pseudoTerminal(t)
	var answers []string
	p := &prompt{
		app:      &app{terminal: terminal{err: io.Discard}},
		terminal: &controllingTerminal{tty, tty},
		answer: func(_ context.Context, id string, verdict httpapi.Verdict) error {
			answers = append(answers, id+": "+verdict.Answer)
			return nil
		},
	}
	for _, id := range []string{"first", "second", "third", "second"} {
		p.show(call.Approval{ID: id, Sentence: "May it?", Choices: []string{"once"}})
	}
	p.endedElsewhere(policy.Ended{ID: "second", How: "it was answered in the panel"})
	for _, word := range []string{"yes\n", "no\n"} {
		if _, err := person.WriteString(word); err != nil {
			t.Fatal(err)
		}
		p.reply(t.Context(), <-p.typed, true)
	}
	if want := []string{"first: allow", "third: deny"}; !slices.Equal(answers, want) || len(p.open) > 0 {
		t.Errorf("answered %q, open %v; want %q", answers, p.open, want)
	}
}

// TestJSONOnATerminal: a page's words neither command a terminal nor turn text around there; they stay the same JSON.
func TestJSONOnATerminal(t *testing.T) {
	person, tty := pseudoTerminal(t)
	const title = "Bank\u009b2J\u007f \u202e\u200b\U000e0041 Größe 漢 😀"
	if err := (&terminal{out: tty}).printJSON(map[string]string{"title": title}); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 1000)
	n, err := person.Read(seen)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"Bank\u009b2J\u007f \u202e\u200b\udb40\udc41 Größe 漢 😀"`
	if said := string(seen[:n]); !strings.Contains(said, want) {
		t.Errorf("%q", said)
	}
	var again string
	if err := json.Unmarshal([]byte(want), &again); err != nil || again != title {
		t.Errorf("%q is %q, %v", want, again, err)
	}
	var piped strings.Builder
	if err := (&terminal{out: &piped}).printJSON(title); err != nil || !strings.Contains(piped.String(), "\u202e") {
		t.Errorf("into a pipe: %q, %v", piped.String(), err)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tabrelay/relay/road/call"
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
	person, terminal := pseudoTerminal(t)
	types := func(text string) {
		t.Helper()
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	p := &prompt{terminal: &controllingTerminal{terminal, terminal}}
	ask := func(id string) {
		p.show(call.Approval{ID: id, Sentence: "May it?", Choices: []string{"once"}})
	}
	ask("first")
	types("yes\n") // which is read once the next question is there
	typed := <-p.typed
	ask("second")
	p.reply(t.Context(), typed, true) // would send an answer, and end
	if p.open == nil || p.open.ID != "second" {
		t.Fatal("a whole line of before answered")
	}
	types("ye")
	ask("third")
	types("s\n")
	if typed := <-p.typed; typed.text != "s\n" {
		t.Errorf("the answer begins with what was typed before: %q", typed.text)
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

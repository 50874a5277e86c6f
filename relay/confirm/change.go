// Package confirm holds what lets agents do more until a person has said yes to it. A [Change] is what they are shown;
// a [Desk] is where it waits for an answer in the side panel.
package confirm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"tabrelay/relay/fault"
)

// Word is what a person types at a terminal to allow a change.
const Word = "yes"

// Change is something that lets agents do more, as the person reads it before they allow it.
type Change struct {
	Title       string       `json:"title"`             // what would be done: “Set a rule: default is auto”
	Command     string       `json:"command,omitempty"` // that does it
	Differences []Difference `json:"differences"`
	Text        string       `json:"text,omitempty"` // what else there is to read, in lines

	// Beside says that the panel shows this question in another form already, so that a terminal may answer it too.
	Beside bool `json:"-"`
}

// Difference is one thing that would be otherwise.
type Difference struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// New makes a change that is shown. Its words may come from anywhere; what nobody sees is taken out of them.
func New(title, command string, differences ...Difference) *Change {
	c := &Change{Title: fault.Sanitize(title), Command: fault.Sanitize(command), Differences: []Difference{}}
	for _, d := range differences {
		c.Differences = append(c.Differences, Difference{fault.Sanitize(d.What), fault.Sanitize(d.Before), fault.Sanitize(d.After)})
	}
	return c
}

// Reading adds lines that the person should read.
func (c *Change) Reading(lines ...string) *Change {
	for i, line := range lines {
		lines[i] = fault.Sanitize(line)
	}
	c.Text = strings.Join(lines, "\n")
	return c
}

// Digest names exactly what is shown: who confirms it confirms nothing else.
func (c *Change) Digest() string {
	text, _ := json.Marshal(c) // strings always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Lines are the change as a terminal shows it.
func (c *Change) Lines() []string {
	lines := []string{c.Title}
	for _, d := range c.Differences {
		lines = append(lines, "  "+d.String())
	}
	if c.Text != "" {
		lines = append(lines, strings.Split(c.Text, "\n")...)
	}
	return lines
}

// String is the change in one line.
func (c *Change) String() string {
	said := c.Title
	for i, d := range c.Differences {
		said += map[bool]string{true: ": ", false: "; "}[i == 0] + d.String()
	}
	return said
}

func (d Difference) String() string { return d.What + ": " + d.Before + " → " + d.After }

// Package called says how the person calls this program, in texts that name a command of it. Not everybody has a
// command tabrelay: npx keeps the program to itself, and a client that unpacked a desktop bundle does so, too.
package called

import (
	"strings"
	"sync/atomic"

	"tabrelay/relay/lib/lazyregexp"
)

// Program is the name of this program, and the command of whoever has installed it.
const Program = "tabrelay"

// Npx is the command of whoever has it by npx only.
const Npx = "npx " + Program

// noCommand is what a text with commands adds for a person who has none.
const noCommand = "The person has tabrelay from a desktop bundle, which has no such command: what it does is in the " +
	"side panel (a click on the extension's icon); where tabrelay is to be started, they quit the client that has " +
	"it, and open it again."

// way is how this process is called.
type way struct {
	name     string // empty: no command
	line     string // the same for the person alone, with the folder where that is needed
	commands map[string]bool
}

var current atomic.Pointer[way]

// Set says how the person calls this process in a terminal, as far as agents may know, who learn no folders of this
// machine: Program, Npx, or nothing, where they cannot. line is what the person types, which may have the folder of
// the program in it, and commands are the first words that can follow. It is called once, before there are texts.
func Set(name, line string, commands map[string]bool) { current.Store(&way{name, line, commands}) }

// Line is what the person types to call this program, for texts that no agent sees; empty where they have no command.
func Line() string {
	if w := current.Load(); w != nil {
		return w.line
	}
	return Program
}

// Somehow reports whether the person can call this program in a terminal.
func Somehow() bool {
	w := current.Load()
	return w == nil || w.name != ""
}

// Exactly is a next step whose commands can be pasted as they are: with the folder of the program where that is needed.
// It is for the person alone; see [In] for the rest.
func Exactly(text string) string {
	if w := current.Load(); w != nil && w.line != "" {
		return Rename(text, w.line, w.commands)
	}
	return text
}

// command finds commands of this program in a sentence, also those that were written for npx.
var command = lazyregexp.New("(^|[\\s(“:;,`]|npx )" + Program + " ([a-z][a-z-]*)")

// Rename replaces the name of this program where a text names a command of it. Those for npx stay.
func Rename(text, name string, commands map[string]bool) string {
	if !strings.Contains(text, Program+" ") {
		return text
	}
	return command.ReplaceAllStringFunc(text, func(found string) string {
		parts := command.FindStringSubmatch(found)
		if parts[1] == "npx " || !commands[parts[2]] {
			return found
		}
		return parts[1] + name + " " + parts[2]
	})
}

// In is a next step of ours, whose commands are those that this person has; where there are none, it says what they do
// instead. Twice is as good as once.
func In(text string) string {
	w := current.Load()
	switch {
	case w == nil || w.name == Program:
		return text
	case w.name != "":
		return Rename(text, w.name, w.commands)
	case Rename(text, Npx, w.commands) == text || strings.Contains(text, "side panel"):
		return text
	}
	return strings.TrimRight(text, ". ") + ". " + noCommand
}

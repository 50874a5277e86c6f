//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tabrelay/relay/lib/called"
	"tabrelay/relay/lib/lazyregexp"
)

// plainWord is a word that a shell needs no quotes for.
var plainWord = lazyregexp.New(`^[\w@%+=:,./-]+$`)

// shellWord quotes text as one word of a shell command.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// intoPath is a command after which this program is called by its name, in this shell already: a new home has no folder
// of its own in PATH.
func intoPath(exe, home string) string {
	own := filepath.Join(home, ".local", "bin")
	info, err := os.Stat(own)
	if err == nil && info.IsDir() && slices.Contains(filepath.SplitList(os.Getenv("PATH")), own) {
		return "ln -sf " + shellWord(exe) + " " + shellWord(filepath.Join(own, called.Program))
	}
	return "sudo ln -sf " + shellWord(exe) + " /usr/local/bin/" + called.Program
}

//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// plainWord is a word that a shell needs no quotes for.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWord quotes text as one word of a shell command.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// intoPath is a command after which this program is called by its name.
func intoPath(exe, home string) string {
	return "ln -sf " + shellWord(exe) + " " + shellWord(filepath.Join(home, ".local", "bin", programName))
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/diskfile"
)

// programName is the name of this program in hints, until it is known how it can be called here.
const programName = "tabrelay"

// callName is how this program is called in this folder: by its name where PATH leads to it, else by npx where
// that has got it, else by its path.
var callName = sync.OnceValue(func() string {
	exe, err := join.Executable()
	if err != nil {
		return programName
	}
	if found, err := exec.LookPath(programName); err == nil && diskfile.Same(found, exe) {
		return programName
	}
	if ofNpx(exe) {
		return "npx " + programName
	}
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, exe); err == nil && filepath.IsLocal(rel) {
			return shellWord("." + string(filepath.Separator) + rel)
		}
	}
	return shellWord(exe)
})

// ofNpx reports whether npx has got a program: into a cache that npm may empty, in a folder whose name is a number.
func ofNpx(exe string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(exe), "/"), "_npx")
}

// command finds commands of this program in a sentence.
var command = regexp.MustCompile(`(^|[\s(“:;,])tabrelay ([a-z][a-z-]*)`)

// pasteable makes the commands of this program in a text such that they can be pasted into this shell.
func pasteable(text string) string {
	if !strings.Contains(text, programName+" ") {
		return text
	}
	name := callName()
	if name == programName {
		return text
	}
	return command.ReplaceAllStringFunc(text, func(found string) string {
		parts := command.FindStringSubmatch(found)
		if !isCommand[parts[2]] {
			return found
		}
		return parts[1] + name + " " + parts[2]
	})
}

// isCommand has the names of the commands; made with them.
var isCommand = map[string]bool{}

// pathHint says how this program can be called by its name; empty when it can.
func pathHint() string {
	if callName() == programName {
		return ""
	}
	exe, err := join.Executable()
	if err != nil {
		return ""
	}
	if ofNpx(exe) {
		return "npm install --global " + programName
	}
	source := filepath.Dir(filepath.Dir(exe))
	if text, err := os.ReadFile(filepath.Join(source, "Makefile")); err == nil &&
		strings.Contains(string(text), "\ninstall:") {
		if dir, err := os.Getwd(); err == nil && diskfile.Same(dir, source) {
			return "make install"
		}
		return "make -C " + shellWord(source) + " install"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return intoPath(exe, home)
}

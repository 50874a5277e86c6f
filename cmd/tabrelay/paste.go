package main

import (
	"encoding/json"
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

// ofBundle reports whether a client has unpacked a program from a desktop bundle, whose manifest names it.
func ofBundle(exe string) bool {
	folder := filepath.Dir(filepath.Dir(exe))
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	var manifest struct {
		Server struct {
			EntryPoint string `json:"entry_point"`
		}
	}
	return err == nil && json.Unmarshal(text, &manifest) == nil && manifest.Server.EntryPoint != "" &&
		diskfile.Same(filepath.Join(folder, filepath.FromSlash(manifest.Server.EntryPoint)), exe)
}

// personalName is how the person calls this program in a terminal, as far as agents may know, who learn no folders of
// this machine; empty where they have it from a desktop bundle only.
func personalName() string {
	exe, err := join.Executable()
	switch {
	case err != nil || callName() == programName:
	case ofNpx(exe):
		return "npx " + programName
	case ofBundle(exe):
		return ""
	}
	return programName
}

// command finds commands of this program in a sentence, also those that a relay has written for npx.
var command = regexp.MustCompile(`(^|[\s(“:;,]|npx )tabrelay ([a-z][a-z-]*)`)

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
		if parts[1] == "npx " || !isCommand[parts[2]] {
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

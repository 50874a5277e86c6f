package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/called"
	"tabrelay/relay/lib/diskfile"
)

// callName is how this program is called in this folder: by its name where PATH leads to it, else by npx where
// that has got it, else by its path.
var callName = sync.OnceValue(func() string {
	exe, err := join.Executable()
	if err != nil {
		return called.Program
	}
	if found, err := exec.LookPath(called.Program); err == nil && diskfile.Same(found, exe) {
		return called.Program
	}
	if ofNpx(exe) {
		return called.Npx
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

// setCalled says how the person calls this program in a terminal, in any folder: by its name, by npx, by its path, of
// which agents learn nothing, or not at all, where they have it from a desktop bundle only.
func setCalled() {
	name, line := called.Program, called.Program
	exe, err := join.Executable()
	switch {
	case err != nil || callName() == called.Program:
	case ofNpx(exe):
		name, line = called.Npx, called.Npx
	case ofBundle(exe):
		name, line = "", ""
	default:
		line = shellWord(exe)
	}
	called.Set(name, line, isCommand)
}

// pasteable makes the commands of this program in a text such that they can be pasted into this shell.
func pasteable(text string) string {
	if !strings.Contains(text, called.Program+" ") {
		return text
	}
	return called.Rename(text, callName(), isCommand)
}

// isCommand has the names of the commands; made with them.
var isCommand = map[string]bool{}

// pathHint says how this program can be called by its name; empty when it can.
func pathHint() string {
	if callName() == called.Program {
		return ""
	}
	exe, err := join.Executable()
	if err != nil {
		return ""
	}
	if ofNpx(exe) {
		return "npm install --global " + called.Program
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

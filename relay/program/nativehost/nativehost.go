// Package nativehost registers this program with the person's browsers as a native-messaging host, and answers as one.
// By it, an extension that came from a store finds the relay of this machine, and can have it started.
//
// The manifest, its places and the messages are those of
// https://developer.chrome.com/docs/extensions/develop/concepts/native-messaging. A browser starts the host only for
// extensions whose ids the manifest has, and tells the host which one it is.
package nativehost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tabrelay/relay/browser/launch"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/state/config"
)

// Name is what extensions call the host.
const Name = "io.github.tabrelay"

// Place is where one browser looks for hosts.
type Place struct {
	Browser string // for people
	File    string // the manifest
	key     string // on Windows: the registry's key below HKEY_CURRENT_USER that names File
}

// In is the place of a browser that keeps its profiles in a folder. On Windows it has none of its own.
func In(userData string) Place {
	return Place{Browser: userData, File: filepath.Join(userData, "NativeMessagingHosts", Name+".json")}
}

// Places are those of the browsers that this person has used.
func Places(home config.Home) (places []Place) {
	for _, data := range launch.UserData() {
		if info, err := os.Stat(data.Dir); err != nil || !info.IsDir() || strings.Contains(data.Dir, "/snap/") {
			continue // a browser in a snap cannot start programs from outside
		}
		place := In(data.Dir)
		if runtime.GOOS == "windows" {
			place.File = filepath.Join(home.NativeHost(), Name+".json")
			place.key = registryKeys[data.Browser]
		}
		place.Browser = data.Browser
		places = append(places, place)
	}
	return places
}

// registryKeys are where browsers on Windows look.
var registryKeys = map[string]string{
	"Google Chrome":  `Software\Google\Chrome\NativeMessagingHosts\` + Name,
	"Chromium":       `Software\Chromium\NativeMessagingHosts\` + Name,
	"Microsoft Edge": `Software\Microsoft\Edge\NativeMessagingHosts\` + Name,
	"Brave":          `Software\BraveSoftware\Brave-Browser\NativeMessagingHosts\` + Name,
}

// manifest is what a browser reads of a host.
type manifest struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Path        string   `json:"path"`
	Type        string   `json:"type"`
	Origins     []string `json:"allowed_origins"`
}

// Host is the relay of one home folder as a host.
type Host struct {
	Home       config.Home
	Executable string   // of tabrelay, absolute
	Extensions []string // ids of those that may ask
}

// Register lets the browsers of these places start the host. It leaves what another home folder registered unless
// replace is set, and returns the places that changed.
func (h Host) Register(places []Place, replace bool) (changed []Place, err error) {
	m := manifest{Name: Name, Description: "tabrelay, for its extension", Path: h.program(), Type: "stdio"}
	for _, id := range h.Extensions {
		m.Origins = append(m.Origins, Origin(id))
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	if err := h.writeProgram(); err != nil {
		return nil, err
	}
	var failures []error // one browser's folder that cannot be written is no reason to leave the others out
	for _, place := range places {
		before, _ := os.ReadFile(place.File) // what cannot be read is written anew
		of, ok := programIn(before)
		if ok && !replace && of != m.Path && exists(of) || string(before) == string(text) && place.known() {
			continue
		}
		if err := place.write(text); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", place.Browser, err))
			continue
		}
		changed = append(changed, place)
	}
	return changed, errors.Join(failures...)
}

func (p Place) write(manifest []byte) error {
	if err := os.MkdirAll(filepath.Dir(p.File), 0o700); err != nil {
		return err
	}
	if err := diskfile.Write(p.File, manifest, 0o600); err != nil {
		return err
	}
	return p.announce()
}

// program is what a browser starts: a manifest cannot say with which arguments and environment.
func (h Host) program() string {
	name := "tabrelay"
	if runtime.GOOS == "windows" {
		name += ".bat"
	}
	return filepath.Join(h.Home.NativeHost(), name)
}

// aroundExecutable is what the program has before and after the word that names tabrelay.
func (h Host) aroundExecutable() (before, after string) {
	if runtime.GOOS == "windows" {
		// The command interpreter reads each line in the code page of that moment, and this file is UTF-8.
		return "@echo off\r\nchcp 65001 >nul\r\nset \"TABRELAY_HOME=" + batchText(string(h.Home)) + "\"\r\n\"",
			"\" %*\r\n"
	}
	return "#!/bin/sh\nTABRELAY_HOME=" + shellWord(string(h.Home)) + " exec '", "' \"$@\"\n"
}

func (h Host) writeProgram() error {
	start, end := h.aroundExecutable()
	text := start + word(h.Executable) + end
	if before, err := os.ReadFile(h.program()); err == nil && string(before) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.program()), 0o700); err != nil {
		return err
	}
	return diskfile.Write(h.program(), []byte(text), 0o700)
}

func shellWord(text string) string { return "'" + quoted(text) + "'" }

func quoted(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }

func batchText(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// word writes a path between the quotes of the program.
func word(path string) string {
	if runtime.GOOS == "windows" {
		return batchText(path)
	}
	return quoted(path)
}

// Registered are the places where a home folder's host is registered.
func (h Host) Registered(places []Place) []Place {
	return slices.DeleteFunc(slices.Clone(places), func(place Place) bool {
		text, err := os.ReadFile(place.File)
		program, ok := programIn(text)
		return err != nil || !ok || program != h.program()
	})
}

// Unregister takes the host out of these places, where it is this one's, and returns where it was. What browsers start
// stays for as long as one that is known still starts it.
func (h Host) Unregister(places []Place) (gone []Place, err error) {
	for _, place := range h.Registered(places) {
		if err := place.retract(); err != nil {
			return gone, err
		}
		if err := os.Remove(place.File); err != nil && !errors.Is(err, fs.ErrNotExist) { // one for several, on Windows
			return gone, err
		}
		gone = append(gone, place)
	}
	if len(h.Registered(Places(h.Home))) > 0 {
		return gone, nil
	}
	return gone, os.RemoveAll(h.Home.NativeHost())
}

// programIn is what a manifest has a browser start.
func programIn(text []byte) (path string, ok bool) {
	var m manifest
	err := json.Unmarshal(text, &m)
	return m.Path, err == nil && m.Path != ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// scheme begins the origin of an extension in Chrome, and in the browsers made from it.
const scheme = "chrome-extension://"

// Origin is how a browser says which extension asks.
func Origin(id string) string { return scheme + id + "/" }

// Asked reports whether a browser has started this program as a host, by its arguments, and for which extension.
func Asked(args []string) (origin string, ok bool) {
	if len(args) == 0 || !strings.HasPrefix(args[0], scheme) {
		return "", false
	}
	return args[0], true
}

// Allowed is an error for an extension that is not one of these.
func Allowed(origin string, ids []string) error {
	for _, id := range ids {
		if origin == Origin(id) {
			return nil
		}
	}
	return fmt.Errorf("the extension %s may not ask", strings.Trim(strings.TrimPrefix(origin, scheme), "/"))
}

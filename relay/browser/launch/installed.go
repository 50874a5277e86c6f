package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Installed is the unpacked extension as one browser profile has noted it.
type Installed struct {
	Browser string // for people: "Google Chrome"
	Profile string // name of the profile's folder
	Folder  string // that the extension is loaded from
	Off     bool   // it is switched off
}

// DataFolder is the folder of one browser, which has a folder for each profile.
type DataFolder struct {
	Browser string // for people
	Dir     string
}

// maxPreferences bounds the file of a profile that is read, in bytes.
const maxPreferences = 64 << 20

// Installations looks into the profiles of the person's browsers, and of the managed browsers whose folders are given,
// for an extension. What a browser changes is in its files seconds later.
func Installations(id string, managed ...string) (found []Installed) {
	places := UserData()
	for _, folder := range managed {
		places = append(places, DataFolder{"the browser that tabrelay started", Launch{Folder: folder}.profile()})
	}
	for _, place := range places {
		profiles, _ := filepath.Glob(filepath.Join(place.Dir, "*", "Preferences")) // the pattern is valid
		for _, file := range profiles {
			if one, ok := installed(filepath.Dir(file), id); ok {
				one.Browser = place.Browser
				found = append(found, one)
			}
		}
	}
	return found
}

// installed reads what a profile has noted of an extension; where it is depends on the system.
func installed(profile, id string) (one Installed, ok bool) {
	for _, name := range []string{"Secure Preferences", "Preferences"} {
		if folder, off, ok := readPreferences(filepath.Join(profile, name), id); ok {
			return Installed{Profile: filepath.Base(profile), Folder: folder, Off: off}, true
		}
	}
	return one, false
}

func readPreferences(file, id string) (folder string, off, ok bool) {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxPreferences {
		return "", false, false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", false, false
	}
	var p struct {
		Extensions struct {
			Settings map[string]struct {
				Path    string          `json:"path"`
				State   *int            `json:"state"`           // up to Chrome 135; 0: off
				Reasons json.RawMessage `json:"disable_reasons"` // a list; up to Chrome 135 a number
			} `json:"settings"`
		} `json:"extensions"`
	}
	if json.Unmarshal(text, &p) != nil {
		return "", false, false
	}
	s, ok := p.Extensions.Settings[id]
	if !ok || !filepath.IsAbs(s.Path) { // of a store, the path is relative
		return "", false, false
	}
	on := slices.Contains([]string{"", "0", "[]", "null"}, string(s.Reasons)) && (s.State == nil || *s.State != 0)
	return filepath.Clean(s.Path), !on, true
}

// UserData are where browsers keep the profiles of this person.
func UserData() []DataFolder {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	switch runtime.GOOS {
	case "darwin":
		under := func(parts ...string) string {
			return filepath.Join(append([]string{home, "Library", "Application Support"}, parts...)...)
		}
		return []DataFolder{{"Google Chrome", under("Google", "Chrome")}, {"Chromium", under("Chromium")},
			{"Microsoft Edge", under("Microsoft Edge")}, {"Brave", under("BraveSoftware", "Brave-Browser")}}
	case "windows":
		under := func(parts ...string) string {
			return filepath.Join(append(append([]string{os.Getenv("LOCALAPPDATA")}, parts...), "User Data")...)
		}
		return []DataFolder{{"Google Chrome", under("Google", "Chrome")}, {"Chromium", under("Chromium")},
			{"Microsoft Edge", under("Microsoft", "Edge")}, {"Brave", under("BraveSoftware", "Brave-Browser")}}
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return []DataFolder{{"Google Chrome", filepath.Join(config, "google-chrome")},
		{"Chromium", filepath.Join(config, "chromium")}, {"Microsoft Edge", filepath.Join(config, "microsoft-edge")},
		{"Brave", filepath.Join(config, "BraveSoftware", "Brave-Browser")},
		{"Chromium", filepath.Join(home, "snap", "chromium", "common", "chromium")}}
}

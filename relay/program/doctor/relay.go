package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/browser/launch"
	"tabrelay/relay/program/nativehost"
)

// oldestChrome is the extension's minimum_chrome_version.
const oldestChrome = 123

func (e *examination) binary() {
	sound := true
	if e.Bundle == nil {
		sound = false
		e.note("binary-incomplete", "This binary was built without the extension", "", "")
	}
	if e.Adapters != nil {
		sound = false
		e.note("binary-incomplete", sentence(e.Adapters.Error()), "", "")
	}
	if sound {
		e.fine("binary", fmt.Sprintf("This program has version %s, with extension and plugins", e.Version))
	}
	if e.TrustedInput {
		e.fine("binary", "The extension may use Chrome's debugger; `tabrelay up` takes that back")
	}
}

func (e *examination) relay() {
	switch {
	case e.Silent != nil:
		e.note("relay-silent", sentence(e.Silent.Error()), "", "")
		return
	case !e.Running && e.shut: // it cannot be known
		return
	case !e.Running:
		e.port()
		if !e.missing && !e.cannotStart() { // or that says it
			e.note("relay-stopped", "The relay is not running", "", "")
		}
		return
	}
	r := e.Relay
	if r.Version != e.Version {
		e.note("version-differs", fmt.Sprintf("The relay has version %s, and this program %s", r.Version, e.Version),
			"", "")
	} else {
		e.fine("relay", fmt.Sprintf("The relay has version %s and has run at http://%s for %s", r.Version, r.Address,
			r.Uptime.Round(time.Second)))
	}
	if r.Refused != "" {
		e.note("config-refused", r.Refused, "", r.RefusedNext)
	}
	if r.Unapplied != "" {
		e.note("config-unconfirmed", "In config.json, but not in effect before you have confirmed it: "+r.Unapplied, "",
			"")
	}
	if r.Widened != "" {
		e.note("config-widened", "Since its last start, the relay lets agents do more: "+r.Widened, "", "")
	}
	if r.Lost != "" {
		e.note("rules-lost", "Rules of yours may be missing, so everything is asked about: "+r.Lost, "", "")
	}
	if r.Narrowed != "" {
		e.note("rules-narrowed", "Since an update, rules about tools and sites allow less: "+r.Narrowed, "", "")
	}
	if len(r.Restart) > 0 {
		e.note("config-waits", "In config.json, but not in effect yet: "+strings.Join(r.Restart, ", "), "", "")
	}
	for _, peer := range slices.Sorted(maps.Keys(r.Corrupt)) {
		e.note("corruption", fmt.Sprintf("Messages of the %s that could not be used since the relay started: %d", peer,
			r.Corrupt[peer]), "", "")
	}
}

// folder looks at the unpacked extension: whether a browser can load it, and with whom it would connect.
func (e *examination) folder() {
	folder := e.extensionFolder()
	pairing, err := os.ReadFile(filepath.Join(folder, "pairing.json"))
	if errors.Is(err, fs.ErrNotExist) && !e.Running {
		return // written at the first start
	}
	if err == nil {
		err = writable(folder)
	}
	if err != nil {
		e.note("folder-unusable", fmt.Sprintf("The extension's folder cannot be used: %v", err), "", "")
		return
	}
	if name := e.stale(folder); name != "" {
		e.note("folder-stale", fmt.Sprintf("The extension's folder %s differs from this program: %s", folder, name), "",
			"")
	}
	var paired struct{ Address, Secret string }
	switch {
	case json.Unmarshal(pairing, &paired) != nil:
		e.note("pairing-wrong", "pairing.json in the extension's folder is damaged", "", "")
	case e.pairing != "" && paired.Secret != e.pairing:
		e.note("pairing-wrong", "pairing.json in the extension's folder has another secret than the relay", "", "")
	case e.Running && e.Relay.Address != "" && paired.Address != e.Relay.Address:
		e.note("pairing-wrong", fmt.Sprintf("pairing.json in the extension's folder names %s, but the relay is at "+
			"%s", paired.Address, e.Relay.Address), "", "")
	default:
		e.fine("extension", "The extension is in "+folder)
	}
}

// extensionFolder is where the relay keeps the extension.
func (e *examination) extensionFolder() string {
	switch {
	case e.Running && e.Relay.Folder != "":
		return e.Relay.Folder
	case e.usable && e.config.ExtensionDir != "":
		return e.config.ExtensionDir
	}
	return e.Home.Extension()
}

// writable reports why nothing can be written into a folder.
func writable(folder string) error {
	probe, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// stale names the first file that differs from the extension in this binary.
func (e *examination) stale(folder string) (name string) {
	if e.Bundle == nil {
		return ""
	}
	// an embedded file is always readable
	_ = fs.WalkDir(e.Bundle, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".gitkeep" {
			return err
		}
		want, err := fs.ReadFile(e.Bundle, path)
		if err != nil {
			return err
		}
		have, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
		if err != nil || !bytes.Equal(have, want) {
			name = path
			return fs.SkipAll
		}
		return nil
	})
	return name
}

// troubles are the findings for the reasons a relay gives why no browser is connected.
var troubles = map[string]string{
	"EXTENSION_NOT_INSTALLED": "extension-absent", "BROWSER_NOT_RUNNING": "browser-closed",
	"EXTENSION_NOT_CONNECTED": "browser-absent",
	"WORKER_ASLEEP":           "worker-asleep", "PAIRING_FAILED": "pairing-refused",
	"VERSION_MISMATCH": "extension-version",
}

func (e *examination) browsers() {
	if !e.Running || e.Silent != nil {
		return
	}
	connected := map[string]bool{}
	for _, b := range e.Relay.Browsers {
		if b.Connected {
			connected[b.Label] = true
			e.browser(b)
		}
	}
	if len(connected) == 0 {
		e.disconnected()
		if id, known := troubles[e.Relay.Trouble.Code]; known {
			why, next := "", ""
			switch id {
			case "pairing-refused":
				why, next = e.otherPairing()
			case "extension-absent":
				next = "run: tabrelay up; it shows how to install it. Without a terminal: " +
					launch.LoadUnpacked(e.config.ExtensionShown(e.Home))
			}
			e.note(id, e.Relay.Trouble.Message, why, next)
			return
		}
	}
	for _, label := range e.Known {
		if !connected[label] && len(connected) > 0 {
			next := "open a window of that profile"
			if slices.Contains(e.Named, label) {
				next = "run: tabrelay up --profile " + label
			}
			e.note("profile-away", fmt.Sprintf("The browser profile %q was connected before and is not now", label), "",
				fmt.Sprintf("%s; if it is not used any more, run: tabrelay profiles forget %q", next, label))
		}
	}
}

// disconnected looks for what keeps the browsers from connecting that have the extension.
func (e *examination) disconnected() {
	if e.Died != 0 {
		e.note("browser-ended", fmt.Sprintf("The browser that tabrelay started (process %d) has ended", e.Died), "", "")
	}
	folder := e.extensionFolder()
	for _, one := range e.Installed {
		where := fmt.Sprintf("%s, profile %s", one.Browser, one.Profile)
		switch _, err := os.Stat(one.Folder); {
		case err != nil:
			e.note("folder-moved", fmt.Sprintf("%s loads the extension from %s, which is not there; it is in %s", where,
				one.Folder, folder), "", "")
		case one.Off && sameFolder(one.Folder, folder):
			e.note("extension-off", "The extension is switched off in "+where, "", "")
		}
	}
}

// otherPairing says which browser loads an extension that is not this relay's, where that can be seen; else nothing.
func (e *examination) otherPairing() (why, next string) {
	folder := e.extensionFolder()
	for _, one := range e.Installed {
		if _, err := os.Stat(one.Folder); err != nil || one.Off || sameFolder(one.Folder, folder) {
			continue
		}
		return fmt.Sprintf("%s, profile %s loads the extension from %s, which is paired with another relay; that of "+
				"this one is in %s.", one.Browser, one.Profile, one.Folder, folder),
			fmt.Sprintf("open chrome://extensions there, press “Remove” on the card of tabrelay, then “Load "+
				"unpacked”, and choose %s; or use the relay of the other home folder: set TABRELAY_HOME to it", folder)
	}
	return "", ""
}

// sameFolder reports whether two paths name one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

func (e *examination) browser(b Browser) {
	major, _, _ := strings.Cut(b.Chrome, ".")
	version, err := strconv.Atoi(major)
	switch {
	case err == nil && version > 0 && version < oldestChrome: // 0: it does not say
		e.note("chrome-old", fmt.Sprintf("The browser %q is Chrome %s", b.Label, b.Chrome), "", "")
	case !b.UpToDate && b.Store:
		e.note("extension-old", fmt.Sprintf("The browser %q runs another version of the edition from a store (%s) "+
			"than this relay knows", b.Label, b.Extension), "The browser updates it by itself, within hours.",
			"open chrome://extensions, switch Developer mode on, and press “Update”; or bring tabrelay up to date")
	case !b.UpToDate:
		e.note("extension-old", fmt.Sprintf("The browser %q runs other files of the extension (%s) than the relay "+
			"holds", b.Label, b.Extension), "", "")
	default:
		edition := ""
		if b.Store {
			edition = ", from a store"
		}
		if b.Managed {
			edition += ", installed by your organization"
		}
		e.fine("browser", fmt.Sprintf("The browser %q is connected: Chrome %s, extension %s%s, open tabs: %d", b.Label,
			b.Chrome, b.Extension, edition, b.Tabs))
	}
	if len(b.Waiting) > 0 {
		e.note("user-scripts-off", fmt.Sprintf("The browser %q does not run plugins that you added: %s", b.Label,
			strings.Join(b.Waiting, ", ")), "", "")
	}
}

// hosts looks at how browsers find the relay for an extension from a store. What a start repairs is told only while
// the relay runs, as that start did not.
func (e *examination) hosts() {
	for _, h := range e.Hosts {
		if h.Fault == nativehost.Foreign || e.Running {
			e.note("native-host-"+h.Fault, h.Browser+": "+h.Why, "", "")
		}
	}
}

func (e *examination) plugins() {
	if !e.Running || e.Silent != nil {
		return
	}
	for _, p := range e.Relay.Problems {
		what := sentence(p.Reason)
		if p.Plugin != "" {
			what = "Plugin " + p.Plugin + ": " + p.Reason
		}
		e.note("plugin-broken", what, "", "")
	}
	for _, name := range e.Relay.Waiting {
		e.note("review-waits", "The plugin "+name+" waits for your review", "", "run: tabrelay plugin review "+name+
			", or open the side panel")
	}
	if e.Relay.Paused {
		e.note("paused", "All agents are stopped", "", "")
	}
	if e.Relay.Unreviewed {
		e.note("review-off", "Plugins run without anybody having reviewed them", "", "")
	}
	e.fine("plugins", fmt.Sprintf("Plugins: %d, tools: %d", e.Relay.Plugins, e.Relay.Tools))
}

// capabilities tells what the relay says its capabilities lack. One of another version may say what is not known here.
func (e *examination) capabilities() {
	if !e.Running || e.Silent != nil {
		return
	}
	for _, lack := range e.Relay.Lacks {
		if _, known := lookup(lack.ID); known {
			e.note(lack.ID, sentence(lack.What), "", "")
		}
	}
}

// clients looks at the clients that are connected, and at none that is not.
func (e *examination) clients() {
	for _, c := range e.Clients {
		again := fmt.Sprintf("run: tabrelay connect %s, then restart %s", c.Name, c.Title)
		if c.Err != nil {
			e.note("client-broken", c.Title+": "+c.Err.Error(), "", "repair the file, then "+again)
			continue
		}
		if c.Elsewhere != "" {
			if _, err := os.Stat(c.Elsewhere); err != nil {
				e.note("client-home", fmt.Sprintf("%s is connected to the relay of %s, which is not there", c.Title,
					c.Elsewhere), "", again)
			} else {
				e.fine("client", fmt.Sprintf("%s is connected to the relay of another home folder, %s", c.Title,
					c.Elsewhere))
			}
			continue
		}
		if _, err := os.Stat(c.Command); err != nil {
			e.note("client-command", fmt.Sprintf("%s runs %s, which is not there", c.Title, c.Command), "", again)
			continue
		}
		if e.known != nil {
			if _, ok := e.known(c.Token); !ok {
				e.note("client-token", c.Title+" has a token that is not known", "", again)
				continue
			}
		}
		e.fine("client", c.Title+" is connected")
	}
	if len(e.Clients) == 0 {
		e.note("client-none", "No MCP client is connected", "", "")
	}
	if e.Chrome == nil {
		return
	}
	if path, err := e.Chrome(e.ctx); err == nil {
		e.fine("chromium", path+" can be started when no other browser is used")
	}
}

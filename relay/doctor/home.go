package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"

	"tabrelay/relay/config"
	"tabrelay/relay/hint"
	"tabrelay/relay/store"
)

// minFree is how much room a disk must have, in bytes: for the log, and for results that are kept.
const minFree = 100 << 20

func (e *examination) home() {
	info, err := os.Stat(string(e.Home))
	var unwritable error
	if err == nil && info.IsDir() {
		unwritable = writable(string(e.Home))
	}
	if probe := (*fs.PathError)(nil); errors.As(unwritable, &probe) {
		unwritable = probe.Err // the file's name says nothing
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.note("home-missing", fmt.Sprintf("There is no home folder %s yet", e.Home), "", "")
	case err != nil:
		e.note("home-unusable", fmt.Sprintf("The home folder cannot be looked at: %v", err), "", "")
	case !info.IsDir():
		e.note("home-unusable", fmt.Sprintf("%s is not a folder", e.Home), "", "")
	case unwritable != nil:
		e.note("home-unusable", fmt.Sprintf("Nothing can be written into the home folder %s: %v", e.Home, unwritable),
			"", "")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		e.note("home-open", fmt.Sprintf("Other users can get into the home folder %s (mode %04o)", e.Home,
			info.Mode().Perm()), "", fmt.Sprintf("run: chmod 700 %q", string(e.Home)))
	default:
		e.fine("home", fmt.Sprintf("The home folder is %s", e.Home))
	}
	if e.Minimal {
		e.note("minimal-forced", "TABRELAY_FORCE_MINIMAL is set",
			"tabrelay mcp then answers in minimal mode, without tools.", "")
	}
}

func (e *examination) disk() {
	if room, err := e.Free(string(e.Home)); err == nil && room < minFree {
		e.note("disk-full", fmt.Sprintf("The disk of the home folder has %d MiB left", room>>20), "", "")
	}
}

func (e *examination) configuration() {
	cfg, err := config.Load(e.Home)
	if err != nil {
		e.note("config-broken", strings.ReplaceAll(err.Error(), "\n", "; "), "", "")
	} else {
		e.config, e.usable = cfg, true
		e.fine("config", "The configuration is "+e.Home.Config())
	}
	for _, warning := range cfg.Warnings {
		e.note("config-warning", sentence(warning), "", "")
	}
}

func (e *examination) secrets() {
	if _, err := os.Stat(e.Home.Secrets()); errors.Is(err, fs.ErrNotExist) {
		return // made at the first start; OpenSecrets would make them now
	}
	secrets, err := config.OpenSecrets(e.Home)
	if err == nil {
		err = secrets.Check()
	}
	if err != nil {
		e.note("secrets-broken", sentence(err.Error()), "", hint.Of(err))
		return
	}
	e.pairing = secrets.Pairing()
	e.known = secrets.Verify
}

// states looks at the files that a start reads besides settings and secrets.
func (e *examination) states() {
	for _, file := range append(e.Home.OldState(), e.Home.PluginList()) {
		var content any
		if err := config.ReadState(file, &content); err != nil {
			e.note("state-broken", sentence(err.Error()), "", "")
		}
	}
}

// database looks at the file from outside: a relay that runs has it open.
func (e *examination) database() {
	// it is made at the first start
	if err := store.Examine(e.Home.Database()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.note("database-broken", fmt.Sprintf("%s cannot be used: %v", e.Home.Database(), err), "", "")
	}
}

// demo sees whether the demo site could have its address, where it is off although it is configured.
func (e *examination) demo() {
	if !e.usable || e.config.Demo.Listen == "" || e.Running && (e.Silent != nil || e.Relay.Demo != "") {
		return
	}
	switch who := e.taken(e.config.Demo.Listen); {
	case who != "":
		e.note("demo-taken", fmt.Sprintf("The demo site is off: %s is taken by %s", e.config.Demo.Listen, who), "", "")
	case e.Running:
		e.note("demo-taken", fmt.Sprintf("The demo site is off, although %s is free now", e.config.Demo.Listen), "",
			"run: tabrelay down, then tabrelay up")
	}
}

// taken says who has an address; empty: nobody has.
func (e *examination) taken(address string) string {
	if strings.HasSuffix(address, ":0") {
		return ""
	}
	listener, err := net.Listen("tcp", address)
	if err == nil {
		_ = listener.Close() // it was only a try
		return ""
	}
	if e.Owner == nil {
		return "another program"
	}
	return e.Owner(e.ctx, address)
}

// port sees whether the relay could have its address.
func (e *examination) port() {
	if !e.usable {
		return
	}
	if who := e.taken(e.config.Listen); who != "" {
		e.note("port-taken", fmt.Sprintf("%s is taken by %s", e.config.Listen, who), "", "")
	}
}

// sentence begins with a capital letter.
func sentence(text string) string {
	if text == "" || text[0] == '/' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

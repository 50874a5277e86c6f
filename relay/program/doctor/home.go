package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// minFree is how much room a disk must have, in bytes: for the log, and for results that are kept.
const minFree = 100 << 20

// home looks at the folder, and whether this person may use what is in it. Where they may not, that is the one cause
// that is told: nothing else can be found out then.
func (e *examination) home() {
	info, err := os.Stat(string(e.Home))
	var others diskfile.Others
	if err == nil {
		others = diskfile.OthersOf(string(e.Home), info)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.missing = true
		e.note("home-missing", fmt.Sprintf("There is no home folder %s yet", e.Home), "", "")
	case errors.Is(err, fs.ErrPermission):
		e.shut = true
		e.note("home-unusable", fmt.Sprintf("You may not look into the folder in which the home folder %s is", e.Home),
			"Its permissions keep you out.", "")
	case err != nil:
		e.shut = true
		e.note("home-unusable", fmt.Sprintf("The home folder cannot be read: %v", err), "", "")
	case !info.IsDir():
		e.shut = true
		e.note("home-unusable", fmt.Sprintf("%s is not a folder", e.Home), "Something else has that name.",
			"move it away, or set TABRELAY_HOME to another folder")
	case e.kept(info):
	case others.Use:
		e.note("home-open", fmt.Sprintf("Other users can get into the home folder %s (%s)", e.Home, others.Why), "",
			"run: "+diskfile.Closing(string(e.Home), true))
	default:
		e.fine("home", fmt.Sprintf("The home folder is %s", e.Home))
	}
	if e.Minimal {
		e.note("minimal-forced", "TABRELAY_FORCE_MINIMAL is set",
			"tabrelay mcp then answers in minimal mode, without tools.", "")
	}
}

// kept reports whether this person may not use the home folder or a file in it, and says which of the two it is: their
// own permissions, or files of another user, as sudo leaves them.
func (e *examination) kept(info fs.FileInfo) bool {
	err := writable(string(e.Home))
	if probe := (*fs.PathError)(nil); errors.As(err, &probe) {
		err = probe.Err // the file's name says nothing
	}
	give := fmt.Sprintf("run: sudo chown -R \"$(id -un)\" %q; or set TABRELAY_HOME to a folder of your own",
		string(e.Home))
	switch {
	case errors.Is(err, fs.ErrPermission) && owner(info) == "":
		e.note("home-shut", fmt.Sprintf("You may not use your own home folder %s (mode %04o)", e.Home,
			info.Mode().Perm()), "", fmt.Sprintf("run: chmod 700 %q", string(e.Home)))
	case errors.Is(err, fs.ErrPermission):
		e.note("home-foreign", fmt.Sprintf("The home folder %s belongs to %s", e.Home, owner(info)), "", give)
	case err != nil:
		e.note("home-unusable", fmt.Sprintf("Nothing can be written into the home folder %s: %v", e.Home, err), "", "")
	default:
		barred, foreign := e.barred()
		if len(barred) == 0 {
			return false
		}
		what := fmt.Sprintf("You may not use all files of the home folder %s: %s", e.Home, strings.Join(barred, ", "))
		if foreign {
			e.note("home-foreign", what, "", give)
		} else {
			e.note("home-shut", what, "", fmt.Sprintf("run: chmod -R u+rwX %q", string(e.Home)))
		}
	}
	e.shut = true
	return true
}

// barred names what is in the home folder and cannot be read by this person or, where it is written, not be written;
// foreign is whether another user has some of it.
func (e *examination) barred() (names []string, foreign bool) {
	look := func(path string, flags int) {
		file, err := os.OpenFile(path, flags, 0)
		switch {
		case err == nil:
			_ = file.Close() // nothing was read or written
		case errors.Is(err, fs.ErrPermission):
			name, _ := filepath.Rel(string(e.Home), path) // it is in the folder
			names = append(names, name)
			info, err := os.Lstat(path)
			foreign = foreign || err == nil && owner(info) != ""
		}
	}
	look(e.Home.Config(), os.O_RDONLY)
	for _, path := range []string{e.Home.Secrets(), e.Home.Database(), e.Home.Lock(), e.Home.Log()} {
		look(path, os.O_RDWR)
	}
	for _, path := range append(e.Home.OldState(), filepath.Dir(e.Home.PluginList())) {
		look(path, os.O_RDONLY)
	}
	if len(names) == 0 {
		look(e.Home.PluginList(), os.O_RDONLY)
	}
	return names, foreign
}

func (e *examination) disk() {
	if room, err := e.Free(string(e.Home)); err == nil && room < minFree {
		e.note("disk-full", fmt.Sprintf("The disk of the home folder has %d MiB left", room>>20), "", "")
	}
}

func (e *examination) configuration() {
	cfg, err := config.Load(e.Home)
	if _, broken := config.ReadPolicy(); broken != nil {
		e.note("policy-broken", strings.ReplaceAll(broken.Error(), "\n", "; "), "", "")
	} else if err != nil {
		e.note("config-broken", strings.ReplaceAll(err.Error(), "\n", "; "), "", "")
	} else {
		e.config, e.usable = cfg, true
		e.fine("config", "The configuration is "+e.Home.Config())
		if cfg.Managed != nil {
			e.fine("policy", sentence(cfg.Managed.Name()+" holds for it: tabrelay policy shows it"))
		}
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
		e.note("secrets-broken", sentence(err.Error()), "", fault.HintOf(err))
		return
	}
	for _, one := range secrets.Clients() {
		if !one.Expires.IsZero() && time.Until(one.Expires) < renewTime {
			e.note("token-expires", fmt.Sprintf("The token of %s is good until %s", one.Name,
				one.Expires.UTC().Format(config.UntilForm)), "", "run: tabrelay clients rotate "+one.Name+
				" --expires 30d, and give its new token to that client; or revoke it")
		}
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
	} else if err := store.CheckVersion(e.ctx, e.Home, tables...); err != nil {
		e.note("database-newer", sentence(err.Error()), "", "")
	}
}

// renewTime is how long before its end a certificate is to be renewed.
const renewTime = 14 * 24 * time.Hour

// remote looks at where other machines reach the relay, and whether they can trust it.
func (e *examination) remote() {
	if !e.usable || e.config.Remote.Listen == "" {
		return
	}
	pair, err := e.config.Remote.KeyPair()
	if err != nil {
		e.note("remote-broken", sentence(err.Error()), "", fault.HintOf(err))
		return
	}
	if until := pair.Leaf.NotAfter; time.Until(until) < renewTime {
		e.note("remote-expires", fmt.Sprintf("The certificate for other machines is good until %s",
			until.Format(time.DateOnly)), "", "")
	}
	names := slices.Clone(pair.Leaf.DNSNames)
	for _, address := range pair.Leaf.IPAddresses {
		names = append(names, address.String())
	}
	e.fine("remote", fmt.Sprintf("Other machines reach the relay at %s with TLS, as %s, and need a token of "+
		"tabrelay clients add --remote", e.config.Remote.Listen, strings.Join(names, ", ")))
}

// demo sees whether the demo site could have its address, where it is off although it is configured.
func (e *examination) demo() {
	if !e.usable || e.config.Demo.Listen == "" || e.Silent != nil || e.Running && e.Relay.Demo != "" {
		return // the demo of a relay that does not answer has its port
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

// cannotStart reports whether something that was found keeps a relay from starting.
func (e *examination) cannotStart() bool {
	taken := func(f Finding) bool { return f.ID == "port-taken" }
	return Unusable(e.found) || slices.ContainsFunc(e.found, taken)
}

// sentence begins with a capital letter.
func sentence(text string) string {
	if text == "" || text[0] == '/' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

package doctor

import (
	"context"
	"errors"
	"path/filepath"

	"tabrelay/adapters"
	"tabrelay/extension"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Here is the scene of a home folder on this machine, but for what its relay says.
func Here(ctx context.Context, home config.Home, version string) Scene {
	s := Scene{
		Home: home, Version: version, Minimal: config.Minimal(),
		Clients: connected(home), Chrome: func(context.Context) (string, error) { return launch.Find("") },
	}
	cfg, _ := config.Load(home) // what is wrong with it is found when it is looked at
	s.Flavour(cfg.TrustedInput)
	var folders []string
	for _, name := range home.Browsers() {
		folders = append(folders, home.Browser(name))
		if m, died := launch.Died(home.Browser(name)); died && s.Died == 0 {
			s.Died = m.PID
		}
	}
	for _, one := range launch.Installations(extension.ID, folders...) {
		s.Installed = append(s.Installed, Installed{one.Browser, one.Profile, one.Folder, one.Off})
	}
	s.Hosts = hosts(home, cfg)
	_, s.Adapters = adapters.Files()
	s.Named = home.Browsers()[1:]
	s.Known, _ = knownLabels(ctx, home) // that they cannot be read is found when the database is looked at
	return s
}

// hosts is what is wrong with how the person's browsers find the relay of a home folder.
func hosts(home config.Home, cfg config.Config) (list []Host) {
	h := nativehost.Host{Home: home, Extensions: cfg.Extensions(extension.ID)}
	for _, one := range h.Examine(nativehost.Places(home), cfg.NativeHost && nativehost.Registers(home)) {
		list = append(list, Host{one.Place.Browser, one.Fault, one.Why})
	}
	return list
}

// Flavour says which flavour of the extension the relay has, or would have if it started.
func (s *Scene) Flavour(trusted bool) {
	f := extension.FlavourOf(trusted)
	s.Bundle, s.Hash, s.TrustedInput = f.Files, f.Hash, trusted
}

// knownLabels are the labels of the profiles that were connected once.
func knownLabels(ctx context.Context, home config.Home) (labels []string, err error) {
	known, err := store.KnownProfiles(ctx, home)
	for _, p := range known {
		labels = append(labels, p.Label)
	}
	return labels, err
}

// elsewhere is the home folder of a client's entry, empty when it is this one.
func elsewhere(entry string, home config.Home) string {
	if entry == "" {
		person, err := config.DefaultHome()
		if err != nil {
			return ""
		}
		entry = string(person)
	}
	if filepath.Clean(entry) == filepath.Clean(string(home)) || sameFolder(entry, string(home)) {
		return ""
	}
	return entry
}

// connected lists the MCP clients of this person that have tabrelay in their configuration.
func connected(home config.Home) (list []Client) {
	env, err := connect.Here()
	if err != nil {
		return []Client{{Title: "MCP clients", Err: err}}
	}
	for _, client := range connect.Clients {
		entry, found, err := client.Entry(env)
		if err == nil && !found {
			continue
		}
		if err != nil {
			entry.Home = string(home) // it says nothing
		}
		if broken, ok := errors.AsType[*connect.BrokenError](err); ok {
			err = broken.Err
		}
		list = append(list, Client{Name: client.Name, Title: client.Title, Err: err, Command: entry.Command,
			Token: entry.Token, Elsewhere: elsewhere(entry.Home, home)})
	}
	return list
}

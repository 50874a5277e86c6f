package relay

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/renameio/v2/maybe"

	"tabrelay/relay/config"
	"tabrelay/relay/lock"
)

// Profile is a browser profile that was connected once.
type Profile struct {
	ID    string    `json:"id"`
	Label string    `json:"label"`
	Seen  time.Time `json:"seen"` // connected last
}

// maxProfiles bounds the list; those seen longest ago are forgotten.
const maxProfiles = 100

// profiles remembers which profiles were connected, so that a later start knows whom to wait for.
type profiles struct {
	path string

	mu   lock.Mutex
	list []Profile
}

// KnownProfiles are the profiles that were connected to a relay of this home folder, the last one first.
func KnownProfiles(home config.Home) ([]Profile, error) {
	p := profiles{path: home.Profiles()}
	err := p.read()
	return p.list, err
}

func (p *profiles) read() error {
	return config.ReadState(p.path, &p.list)
}

// knew reports whether a profile of this id or name was connected once.
func (p *profiles) knew(profile string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.list, func(k Profile) bool { return k.ID == profile || k.Label == profile })
}

// met notes that a profile connected.
func (p *profiles) met(id, label string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(k Profile) bool { return k.ID == id })
	p.list = slices.Insert(p.list, 0, Profile{ID: id, Label: label, Seen: time.Now().UTC().Truncate(time.Second)})
	p.list = p.list[:min(len(p.list), maxProfiles)]
	text, err := json.MarshalIndent(p.list, "", "  ")
	if err != nil {
		return err
	}
	return maybe.WriteFile(p.path, append(text, '\n'), 0o600)
}

package review

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

// Sheet is what a person reads of one plugin. Every text in it is legible.
type Sheet struct {
	Plugin      string       `json:"plugin"`
	Title       string       `json:"title"`
	Version     string       `json:"version"`
	Description string       `json:"description,omitempty"`
	Hash        string       `json:"hash"`
	Source      string       `json:"source"` // where it came from
	World       string       `json:"world"`
	Hosts       []string     `json:"hosts"`
	Excludes    []string     `json:"excludes"`
	Permissions []string     `json:"permissions"` // what it asks for, sentences
	Settings    []Setting    `json:"settings"`
	Tools       []Tool       `json:"tools"`
	Files       []File       `json:"files"`
	Partly      bool         `json:"partly,omitempty"` // there are more sources than Files has
	Changes     []string     `json:"changes"`          // since the last review, sentences
	Diff        []Difference `json:"diff"`             // since the last review
	Reviewed    *Reviewed    `json:"reviewed"`         // the last content that was accepted; null when none was
	State       State        `json:"state"`
	Serving     string       `json:"serving,omitempty"` // hash of what is offered of the plugin meanwhile
}

// State is how far a plugin's content is with its review.
type State string

// The states of a content.
const (
	Waiting     State = "waiting"
	Accepted    State = "accepted"
	Refused     State = "refused"
	Developing  State = "dev"          // it runs while its author works on it, with `plugin dev`
	NotRequired State = "not-required" // nobody has to review anything here
)

// Reviewed is an accepted review.
type Reviewed struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
	By   string    `json:"by"`
}

// Setting is something the plugin can be told.
type Setting struct {
	Name     string `json:"name"`
	Label    string `json:"label,omitempty"`
	Type     string `json:"type"`
	Secret   bool   `json:"secret"`
	Required bool   `json:"required"`
}

// Tool is one tool of the plugin.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"readOnly"`
	Destructive bool   `json:"destructive"`
	Change      string `json:"change"` // new, changed, or nothing
}

// New puts together what a person should see of now. before is the content they accepted last, nil when there is none.
func New(now Content, before *Content) Sheet {
	m := &now.Plugin.Manifest
	s := Sheet{
		Plugin: m.Name, Title: Legible(m.DisplayName), Version: Legible(m.Version), Description: Legible(m.Description),
		Hash:  now.Plugin.Hash,
		World: string(m.World), Hosts: hosts(m), Excludes: append([]string{}, m.ExcludePatterns...),
		Permissions: permissions(m),
		Settings:    settings(m), Tools: []Tool{}, Files: files(now), Partly: now.Partly, Changes: []string{},
		Diff: []Difference{},
	}
	var old []plugin.Tool
	if before != nil {
		old = before.Plugin.Manifest.Tools
		s.Diff = differences(files(*before), s.Files)
		for _, change := range build.Compare(before.Plugin, now.Plugin) {
			s.Changes = append(s.Changes, Legible(change))
		}
	}
	for i := range m.Tools {
		t := &m.Tools[i]
		one := Tool{Name: t.Name, Title: Legible(t.DisplayName), Description: Legible(t.Description),
			ReadOnly: effectOf(t) == reads, Destructive: effectOf(t) == destroys}
		if before != nil {
			one.Change = changeOf(t, old)
		}
		s.Tools = append(s.Tools, one)
	}
	return s
}

// Size is how much there is to read, in bytes.
func (s *Sheet) Size() (bytes int) {
	for _, f := range s.Files {
		bytes += len(f.Text)
	}
	for _, d := range s.Diff {
		bytes += len(d.Text)
	}
	return bytes
}

func changeOf(t *plugin.Tool, old []plugin.Tool) string {
	i := slices.IndexFunc(old, func(o plugin.Tool) bool { return o.Name == t.Name })
	if i < 0 {
		return "new"
	}
	was, err := json.Marshal(old[i])
	is, failed := json.Marshal(t)
	if err != nil || failed != nil || string(was) != string(is) {
		return "changed"
	}
	return ""
}

func settings(m *plugin.Manifest) []Setting {
	list := []Setting{}
	declared, _ := plugin.Settings(m.ConfigSchema) // as in permissions
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		s := declared[name]
		list = append(list, Setting{Name: Legible(name), Label: Legible(s.Label), Type: Legible(s.Type),
			Secret: s.IsSecret(), Required: s.Required})
	}
	return list
}

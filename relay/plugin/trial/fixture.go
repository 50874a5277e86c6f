package trial

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// Folder is where a plugin's fixtures are.
const Folder = "fixtures"

// Fixture is one call and what has to come of it: a file FOLDER/fixtures/NAME.json.
type Fixture struct {
	Name      string          `json:"-"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Settings  json.RawMessage `json:"settings"`
	MaxBytes  int             `json:"maxBytes,omitempty"` // of the answer; 0: the tool is not told
	Page      struct {
		URL  string `json:"url"`            // default: what the plugin says to open
		HTML string `json:"html,omitempty"` // needs a browser

		// what the page has besides: cookies and storages by name, and globals by their path
		Cookies        map[string]string          `json:"cookies,omitempty"`
		LocalStorage   map[string]string          `json:"localStorage,omitempty"`
		SessionStorage map[string]string          `json:"sessionStorage,omitempty"`
		Globals        map[string]json.RawMessage `json:"globals,omitempty"`
	} `json:"page"`
	Requests []json.RawMessage `json:"requests"`
	Expect   struct {
		Output json.RawMessage            `json:"output"`
		Error  map[string]json.RawMessage `json:"error"` // each field that is named; of message a part is enough
	} `json:"expect"`
}

// request is one that a tool may make, and what the site answers: {method, url, sends, status, headers, body}. The
// world reads it; here it is only checked.
type request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Sends   json.RawMessage   `json:"sends"` // the body of the request; left out, any
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// Read reads the fixtures of a plugin's folder, sorted by name.
func Read(dir string, p *plugin.Plugin) ([]Fixture, error) {
	root, err := os.OpenRoot(dir) // a link that leads out of the folder is no fixture of it
	if err != nil {
		return nil, err
	}
	defer root.Close() // only read from
	files, err := fs.Glob(root.FS(), Folder+"/*.json")
	if err != nil {
		return nil, err
	}
	var list []Fixture
	var wrong []error
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".json")
		text, err := root.ReadFile(filepath.FromSlash(file))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s cannot be read: %w", file, err))
			continue
		}
		f, err := parse(text, p)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s/%s.json: %w", Folder, name, err))
			continue
		}
		f.Name = name
		list = append(list, f)
	}
	if len(files) == 0 {
		return nil, fault.Hinted(errors.New("there are no fixtures in "+filepath.Join(dir, Folder)), "a fixture is "+
			`{"tool": …, "arguments": …, "requests": […], "expect": …}; docs/guides/testing.md describes it`)
	}
	return list, errors.Join(wrong...)
}

func parse(text []byte, p *plugin.Plugin) (f Fixture, err error) {
	if err := strict(text, &f); err != nil {
		return f, err
	}
	i := slices.IndexFunc(p.Manifest.Tools, func(t plugin.Tool) bool { return t.Name == f.Tool })
	if i < 0 {
		return f, fmt.Errorf("the plugin has no tool %q", f.Tool)
	}
	for _, one := range f.Requests {
		var r request
		if err := strict(one, &r); err != nil {
			return f, fmt.Errorf("a request: %w", err)
		}
		if r.URL == "" {
			return f, errors.New("a request has no url")
		}
	}
	if f.Expect.Output != nil && f.Expect.Error != nil {
		return f, errors.New("it expects both an output and an error")
	}
	f.complete(p)
	input, err := schema.Compile(p.Manifest.Tools[i].InputSchema)
	if err != nil {
		return f, err
	}
	if problems := input.Check(f.Arguments); len(problems) > 0 {
		return f, fmt.Errorf("the relay would refuse this call: %s", schema.Explain(problems))
	}
	return f, nil
}

// complete fills in what a fixture may leave out.
func (f *Fixture) complete(p *plugin.Plugin) {
	if f.Arguments == nil {
		f.Arguments = json.RawMessage("{}")
	}
	if f.Settings == nil {
		f.Settings = json.RawMessage("{}")
	}
	if f.Requests == nil {
		f.Requests = []json.RawMessage{}
	}
	f.Page.URL = cmp.Or(f.Page.URL, p.Manifest.Homepage, "https://site.example/")
}

func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

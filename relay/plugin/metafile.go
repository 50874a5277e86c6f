package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// metafile is the part of esbuild's report that is of use here.
type metafile struct {
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		Imports []struct {
			Path     string `json:"path"`
			External bool   `json:"external"`
		} `json:"imports"`
	} `json:"outputs"`
}

func readMetafile(raw string) (metafile, error) {
	var meta metafile
	if err := json.Unmarshal([]byte(raw), &meta); err != nil {
		return meta, fmt.Errorf("the bundler's report cannot be read: %w", err)
	}
	inputs := make(map[string]struct{}, len(meta.Inputs))
	for name := range meta.Inputs {
		inputs[own(name)] = struct{}{}
	}
	meta.Inputs = inputs
	return meta, nil
}

// externals returns the packages the output still imports, each once, sorted.
func (meta metafile) externals() []string {
	seen := map[string]struct{}{}
	for _, output := range meta.Outputs {
		for _, i := range output.Imports {
			if i.External && !isSDK(i.Path) {
				seen[i.Path] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m *module) readMetafile(raw string) error {
	meta, err := readMetafile(raw)
	if err != nil {
		return err
	}
	m.packages = meta.externals()
	m.files = slices.Sorted(maps.Keys(meta.Inputs))
	return nil
}

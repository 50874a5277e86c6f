package install

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Found is a package of a registry that is a plugin by its name.
type Found struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

const (
	searchTime = 10 * time.Second
	maxSearch  = 8 << 20
	// MostFound is how many packages a registry is asked for at the most.
	MostFound = 250
)

// prefixes begin the names of plugins, after a scope.
var prefixes = []string{"tabrelay-plugin", "opentabs-plugin"}

// isPlugin reports whether a package is a plugin by its name.
func isPlugin(name string) bool {
	if _, unscoped, ok := strings.Cut(name, "/"); ok {
		name = unscoped
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix+"-") })
}

// Search asks the registry for plugins that have to do with words
// (https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md, GET /-/v1/search), the best first.
func (c *Config) Search(ctx context.Context, words string, limit int) (found []Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	base, err := c.registry("")
	if err != nil {
		return nil, err
	}
	for _, prefix := range prefixes {
		at := base.JoinPath("-", "v1", "search")
		at.RawQuery = url.Values{"text": {strings.TrimSpace(prefix + " " + words)},
			"size": {strconv.Itoa(min(limit, MostFound))}}.Encode()
		text, err := c.get(ctx, at, "application/json", maxSearch)
		if err != nil {
			return nil, err
		}
		var answer struct {
			Objects []struct{ Package Found } `json:"objects"`
		}
		if json.Unmarshal(text, &answer) != nil {
			return nil, errors.New("the registry's answer to a search is not JSON")
		}
		for _, one := range answer.Objects {
			if isPlugin(one.Package.Name) && !slices.Contains(found, one.Package) {
				found = append(found, one.Package)
			}
		}
	}
	return found[:min(len(found), limit)], nil
}

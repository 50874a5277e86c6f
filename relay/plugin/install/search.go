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

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
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
	// mostLine is how many characters of a registry's words are shown on one line.
	mostLine = 200
)

// prefixes begin the names of plugins, after a scope.
var prefixes = []string{"tabrelay-plugin", "opentabs-plugin"}

// versionForm is that of a version that can be asked for (https://semver.org, 2).
var versionForm = lazyregexp.New(`^[0-9][0-9A-Za-z.+-]{0,63}$`)

// isPlugin reports whether a package is a plugin by its name, and whether it can have that name.
func isPlugin(name string) bool {
	if !nameForm.MatchString(name) || len(name) > maxName {
		return false
	}
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
		answer, err := c.searchFor(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, one := range answer {
			known := slices.ContainsFunc(found, func(f Found) bool { return f.Name == one.Name })
			if !known && isPlugin(one.Name) && versionForm.MatchString(one.Version) {
				one.Description = oneLine(one.Description)
				found = append(found, one)
			}
		}
	}
	return found[:min(len(found), limit)], nil
}

// searchFor gets one answer of a registry, as it is.
func (c *Config) searchFor(ctx context.Context, at *url.URL) (found []Found, err error) {
	text, err := c.get(ctx, request{from: at, accept: "application/json", most: maxSearch, within: searchTime,
		sameHost: true})
	if errors.Is(err, errUnknown) {
		return nil, errors.New("the registry has no search")
	}
	if err != nil {
		return nil, err
	}
	var answer struct {
		Objects []struct{ Package Found } `json:"objects"`
	}
	// A member of another type is left empty, which need not cost the rest of the answer.
	err = json.Unmarshal(text, &answer)
	_, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	if err != nil && !mistyped || answer.Objects == nil {
		return nil, fault.Hinted(errors.New("its answer is not a list of packages in JSON"),
			"is "+at.Host+" a package registry? --registry URL names another")
	}
	for _, one := range answer.Objects {
		found = append(found, one.Package)
	}
	return found, nil
}

// oneLine is what a registry says, short and without what a terminal obeys or nobody sees.
func oneLine(text string) string {
	return clip.Runes(strings.TrimSpace(fault.Sanitize(terminalCode.ReplaceAllString(text, ""))), mostLine)
}

// terminalCode is a control sequence or a command string of ECMA-48 (5.4, 8.3.89), which leaves more than control
// characters behind.
var terminalCode = lazyregexp.New(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` +
	`(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)

package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"tabrelay/relay/match"
)

// What a plugin asks for and what its sources use are compared by the words in the sources. Addresses that are put
// together while the plugin runs, and what packages do, are not seen.

var (
	// sentTo is a request whose address stands in the call.
	sentTo = regexp.MustCompile("\\b(?:fetch|fetch[A-Z]\\w*|post[A-Z]\\w*|putJSON|patchJSON|deleteJSON)\\s*(?:<[^()]*>)?\\(\\s*['\"`](https?://[^/'\"`$\\s]+)")
	// pageWord is what only the main world has, or may have.
	pageWord = regexp.MustCompile(`\b(window|globalThis|self|getPageGlobal|customElements|unsafeWindow)\b`)
	comment  = regexp.MustCompile(`(?m)(^|\s)//.*$|/\*(?s:.*?)\*/`)
)

// checkAsked says what a plugin asks for and does not use, and uses and does not ask for.
func checkAsked(p *Plugin) (problems []string) {
	text := sourceText(p.Dir)
	if text == "" {
		return nil
	}
	m := &p.Manifest
	for _, host := range strangers(text, m.URLPatterns) {
		problems = append(problems, fmt.Sprintf("it sends requests to %s, which is on none of its pages: there the site's CORS decides, and the person's session may be missing", host))
	}
	if m.World == Main && m.PreScript == "" && !pageWord.MatchString(text) {
		problems = append(problems, `it asks for the main world, and its sources name nothing that only a page has; "world": "isolated" keeps it out of the page's reach`)
	}
	if m.PreScript != "" && !strings.Contains(text, "getPreScriptValue") {
		problems = append(problems, "it asks for a pre-script, and nothing reads what that keeps (getPreScriptValue)")
	}
	var declared map[string]struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(m.ConfigSchema, &declared) != nil {
		return problems
	}
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		// An address is used without being read: it adds pages.
		if declared[key].Type != "url" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(key)+`\b`).MatchString(text) {
			problems = append(problems, fmt.Sprintf("it asks for the setting %q, and its sources do not name it", key))
		}
	}
	return problems
}

// strangers are the hosts that sources send requests to and that no pattern is about.
func strangers(text string, patterns []string) []string {
	hosts := map[string]bool{}
	for _, found := range sentTo.FindAllStringSubmatch(text, -1) {
		asked := func(pattern string) bool {
			scheme, rest, _ := strings.Cut(pattern, "://")
			host, _, _ := strings.Cut(rest, "/")
			rule, err := match.NewRule([]string{scheme + "://" + host + "/*"}, nil)
			return err == nil && rule.Matches(found[1]+"/")
		}
		if !slices.ContainsFunc(patterns, asked) {
			hosts[found[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// sourceText is a plugin's own sources, without comments; empty when there are none.
func sourceText(dir string) string {
	files, _ := SourceFiles(dir)
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(name, "src/") && strings.Contains(".ts.tsx.js.jsx.mts.mjs", path.Ext(name)) {
			all.Write(files[name])
			all.WriteByte('\n')
		}
	}
	return comment.ReplaceAllString(all.String(), " ")
}

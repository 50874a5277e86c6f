package main

import (
	"io/fs"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

const entrance = "docs/README.md"

// TestLinksOfTheDocs: every page, anchor, file and picture that the documentation points to exists.
func TestLinksOfTheDocs(t *testing.T) {
	pages := docPages(t)
	for _, page := range pages {
		check := func(destination []byte) {
			if problem := brokenLink(pages, page.name, string(destination)); problem != "" {
				t.Errorf("%s: %s", page.name, problem)
			}
		}
		each(t, page.tree, func(link *ast.Link) { check(link.Destination) })
		each(t, page.tree, func(image *ast.Image) {
			check(image.Destination)
			if plain(image, page.source) == "" {
				t.Errorf("%s: %s does not say what it shows", page.name, image.Destination)
			}
		})
	}
}

// brokenLink says what is wrong with a link of a page. What is not in this repository is not looked up.
func brokenLink(pages map[string]*docPage, from, destination string) string {
	link, err := url.Parse(destination)
	if err != nil {
		return err.Error()
	}
	if link.IsAbs() {
		return ""
	}
	target := from
	if link.Path != "" {
		target = path.Join(path.Dir(from), link.Path)
	}
	if _, err := fs.Stat(repository, target); err != nil {
		return "the link " + destination + " leads nowhere: there is no " + target
	}
	if link.Fragment == "" {
		return ""
	}
	if page := pages[target]; page == nil || !page.anchors[link.Fragment] {
		return "the link " + destination + " leads nowhere: " + target + " has no such heading"
	}
	return ""
}

// TestDoorsOfTheDocs: every page is listed once on the page where readers enter. The site's menu is made of that list.
func TestDoorsOfTheDocs(t *testing.T) {
	pages := docPages(t)
	doors := pages[entrance]
	if doors == nil {
		t.Fatalf("there is no %s", entrance)
	}
	listed := map[string]int{}
	each(t, doors.tree, func(item *ast.ListItem) {
		each(t, item, func(link *ast.Link) {
			listed[path.Join(path.Dir(entrance), string(link.Destination))]++
		})
	})
	for name := range pages {
		if !strings.HasPrefix(name, "docs/") || name == entrance {
			continue
		}
		if n := listed[name]; n != 1 {
			t.Errorf("%s lists %s %d times; each page has one place there", entrance, name, n)
		}
	}
}

// TestBrokenLinks: what TestLinksOfTheDocs must find.
func TestBrokenLinks(t *testing.T) {
	pages := docPages(t)
	for destination, broken := range map[string]bool{
		"https://example.com/nothing":    false,
		"mcp.md":                         false,
		"mcp.md#tools":                   false,
		"guides/errors.md":               false,
		"../README.md":                   false,
		"../adapters/mediawiki":          false,
		"no-such-page.md":                true,
		"mcp.md#no-such-heading":         true,
		"#no-such-heading":               true,
		"panel/no-such-picture.png":      true,
		"../adapters/mediawiki#anything": true,
	} {
		if problem := brokenLink(pages, entrance, destination); (problem != "") != broken {
			t.Errorf("%s: %q", destination, problem)
		}
	}
	for heading, want := range map[string]string{
		"Rate limits: what's counted?": "rate-limits-whats-counted",
		"RATE_LIMITED":                 "rate_limited",
		"One call – two roads":         "one-call--two-roads",
	} {
		if got := slug(heading); got != want {
			t.Errorf("%q has the anchor %q, not %q", heading, got, want)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"tabrelay/relay/state/config"
)

// docPage is one file of the documentation, with the anchors that a Git host and the site give its headings.
type docPage struct {
	name    string // from the root of the repository
	source  []byte
	tree    ast.Node
	anchors map[string]bool
}

var (
	repository = os.DirFS("../..")
	markdown   = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
)

// docPages are the pages that people read. A plugin's recipes are for agents, and named after their arguments.
func docPages(t *testing.T) map[string]*docPage {
	t.Helper()
	names := []string{"README.md", "CHANGELOG.md", "plugin-sdk/README.md", "relay/browser/wire/PROTOCOL.md"}
	err := fs.WalkDir(repository, "docs", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]*docPage{}
	for _, name := range names {
		source, err := fs.ReadFile(repository, name)
		if err != nil {
			t.Fatal(err)
		}
		page := &docPage{name: name, source: source, anchors: map[string]bool{}}
		page.tree = markdown.Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
		each(t, page.tree, func(heading *ast.Heading) {
			page.anchors[unused(page.anchors, slug(plain(heading, source)))] = true
		})
		pages[name] = page
	}
	return pages
}

// each calls visit for every node of one kind.
func each[N ast.Node](t *testing.T, tree ast.Node, visit func(N)) {
	t.Helper()
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if found, is := node.(N); is && entering {
			visit(found)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// plain is the text of a node without its markup.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		switch c := child.(type) {
		case *ast.Text:
			b.Write(c.Value(source))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(plain(child, source))
		}
	}
	return b.String()
}

// slug is the anchor of a heading: that of GitHub, which docs/site/markdown.ts gives the site too.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func unused(taken map[string]bool, anchor string) string {
	for n, candidate := 1, anchor; ; n++ {
		if !taken[candidate] {
			return candidate
		}
		candidate = fmt.Sprintf("%s-%d", anchor, n)
	}
}

// line is the number of the line that a byte is in.
func (p *docPage) line(at int) int { return 1 + strings.Count(string(p.source[:at]), "\n") }

// TestDocumentedPolicies checks every policy that docs/company.md shows; those of the browser are run by
// e2e/specs/browser-policy.spec.ts.
func TestDocumentedPolicies(t *testing.T) {
	page, err := os.ReadFile("../../docs/company.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, found := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1) {
		if bytes.Contains(found[1], []byte(`"ExtensionSettings"`)) {
			continue
		}
		file := filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(file, found[1], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := config.CheckPolicy(file); err != nil {
			t.Errorf("%s: %v", found[1], err)
		}
		checked++
	}
	if checked < 3 {
		t.Errorf("only %d policies were found", checked)
	}
}

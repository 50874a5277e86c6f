package plugin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
)

// remembered is what the last reading gave, and what it was made of. Most edits change a handler, and then the tools
// are still described as they were; an edit of one tool's schemas leaves the others as they were.
type remembered struct {
	key     [sha256.Size]byte
	outline *outline // nil when nothing can be used again tool by tool
	rest    [sha256.Size]byte
	tools   []Tool // nil when nothing can be used again
	byText  map[[sha256.Size]byte]Tool
	about   *described
}

// describe reads the tools, as far as what describes them changed since the last time.
func (b *Builder) describe(ctx context.Context, src *source, m *module) (*remembered, []Diagnostic) {
	var wait sync.WaitGroup
	var script engineSource
	var failed error
	var said remembered
	var code []byte
	var numbered int
	wait.Go(func() {
		lazy, count := makeLazy(m.code)
		numbered = count
		script, failed = forEngine(lazy)
	})
	wait.Go(func() {
		if code = stripHandlers(m.code); code != nil {
			said.outline = readOutline(code)
		}
	})
	packages, found := b.packages.text(m.packages)
	wait.Wait()
	if len(found) > 0 {
		return nil, found
	}
	if failed != nil {
		return nil, append(found, Diagnostic{File: entryFile, Text: fmt.Sprintf("cannot be read: %v", failed)})
	}
	if said.outline.count() != numbered {
		said.outline = nil // a number would mean another tool on each side
	}
	context := fmt.Sprintf("\n// %s, %t, packages %d", src.name, src.foreign, b.packages.generation)
	said.key = sha256.Sum256(append(code, context...))
	if b.last.tools != nil && code != nil && said.key == b.last.key {
		said := b.last
		return &said, nil
	}
	if said.outline != nil {
		said.rest = sha256.Sum256(append(said.outline.rest[:], context...))
	}
	more := b.reading(ctx, src, &said, script, packages)
	found = append(found, more...)
	b.last = remembered{}
	if said.about == nil {
		return nil, found
	}
	if len(found) == 0 {
		b.last = said
	}
	return &said, found
}

// reading asks the plugin for the tools that are not known.
func (b *Builder) reading(ctx context.Context, src *source, said *remembered, script engineSource, packages string) []Diagnostic {
	known := b.known(said)
	about, found := b.reader.read(ctx, question{src.name, script, packages, known})
	if about == nil {
		return found
	}
	for _, t := range about.Tools {
		if t.Known && t.Place != nil {
			t.Tool = b.last.byText[said.outline.tools[*t.Place]]
		}
	}
	said.about = about
	var faults []Diagnostic
	said.tools, faults = acceptTools(src, about.Tools)
	said.byText = map[[sha256.Size]byte]Tool{}
	for i, t := range about.Tools {
		if t.Place != nil && *t.Place < said.outline.count() {
			said.byText[said.outline.tools[*t.Place]] = said.tools[i]
		}
	}
	return append(found, faults...)
}

// known returns the places of the tools whose text is one that was read before, in the same surroundings.
func (b *Builder) known(said *remembered) map[int]bool {
	known := map[int]bool{}
	if said.outline == nil || b.last.outline == nil || said.rest != b.last.rest {
		return known
	}
	for i, text := range said.outline.tools {
		if _, ok := b.last.byText[text]; ok {
			known[i] = true
		}
	}
	return known
}

func (o *outline) count() int {
	if o == nil {
		return 0
	}
	return len(o.tools)
}

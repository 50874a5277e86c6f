package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/grafana/sobek/ast"

	"tabrelay/relay/road/plugin"
)

// Reading a plugin's tools is mostly building schemas: every method of a schema library makes a new object of many
// parts. Two things avoid most of it. The schemas of a tool that is defined outside of functions are built only on
// demand, so that engines can share the work. And a tool whose text, and the text around it, is unchanged is not read
// again.

type digest = [sha256.Size]byte

// toolCache is the result of a reading, and what it was made of. Most edits change a handler, and then the tools are
// described as before; an edit of one tool's schemas leaves the others as they were.
type toolCache struct {
	key     digest        // of all that describes the tools
	outline *outline      // nil when single tools cannot be reused
	rest    digest        // of everything but the tools
	tools   []plugin.Tool // nil when nothing can be reused
	byText  map[digest]plugin.Tool
	info    *pluginInfo
}

// readTools reads the tools, as far as what describes them changed since the last time.
func (b *Builder) readTools(ctx context.Context, src *source, m *module) (*toolCache, []Diagnostic) {
	var wait sync.WaitGroup
	var lazy moduleScript
	var failed error
	var read toolCache
	var described []byte // what describes the tools
	var numbered int
	wait.Go(func() {
		var code []byte
		code, numbered = makeLazy(m.code)
		lazy, failed = forEngine(code)
	})
	wait.Go(func() {
		if described = stripHandlers(m.code); described != nil {
			read.outline = readOutline(described)
		}
	})
	packages, found := b.packages.script(m.packages)
	wait.Wait()
	if len(found) > 0 {
		return nil, found
	}
	if failed != nil {
		return nil, faultf(entryFile, "cannot be read: %v", failed)
	}
	if read.outline.count() != numbered {
		read.outline = nil // the numbers would mean different tools on each side
	}
	context := fmt.Sprintf("\n// %s, %t, packages %d", src.name, src.foreign, b.packages.generation)
	read.key = sha256.Sum256(append(described, context...))
	if b.cached.tools != nil && described != nil && read.key == b.cached.key {
		return &b.cached, nil
	}
	if read.outline != nil {
		read.rest = sha256.Sum256(append(read.outline.rest[:], context...))
	}
	found = b.readChanged(ctx, src, &read, lazy, packages)
	b.cached = toolCache{}
	if read.info == nil {
		return nil, found
	}
	if len(found) == 0 {
		b.cached = read
	}
	return &read, found
}

// readChanged reads the tools that are not in the cache.
func (b *Builder) readChanged(
	ctx context.Context, src *source, read *toolCache, lazy moduleScript, packages string,
) []Diagnostic {
	request := readRequest{Name: src.name, Code: lazy.code, Sources: lazy.sources, Known: b.unchanged(read)}
	info, found := b.reader.read(ctx, request, packages)
	if info == nil {
		return found
	}
	for _, t := range info.Tools {
		if t.Known && t.Place != nil {
			t.Tool = b.cached.byText[read.outline.tools[*t.Place]]
		}
	}
	read.info = info
	var faults []Diagnostic
	read.tools, faults = checkTools(src, info.Tools)
	if !src.foreign {
		for _, key := range unknownKeys("a plugin", info.About.Keys, pluginKeys) {
			faults = append(faults, faultf(entryFile, "%s", key.text)...)
		}
	}
	read.byText = map[digest]plugin.Tool{}
	for i, t := range info.Tools {
		if t.Place != nil && *t.Place < read.outline.count() {
			read.byText[read.outline.tools[*t.Place]] = read.tools[i]
		}
	}
	return append(found, faults...)
}

// unchanged returns the places of the tools that were read before with the same text, and the same text around them.
func (b *Builder) unchanged(read *toolCache) map[int]bool {
	known := map[int]bool{}
	if read.outline == nil || b.cached.outline == nil || read.rest != b.cached.rest {
		return known
	}
	for i, text := range read.outline.tools {
		if _, ok := b.cached.byText[text]; ok {
			known[i] = true
		}
	}
	return known
}

// outline is a module divided into its tools and the rest.
type outline struct {
	rest  digest   // of everything but the tools
	tools []digest // of each tool that is defined outside of functions, in their order
}

func (o *outline) count() int {
	if o == nil {
		return 0
	}
	return len(o.tools)
}

// readOutline returns the outline of a module without handlers; nil when it cannot be parsed.
func readOutline(code []byte) *outline {
	program, s, err := newEditor(code, func(string) bool { return false })
	if err != nil {
		return nil
	}
	o := &outline{}
	for _, call := range s.topLevelTools(program.Body) {
		from, to := offset(call.ArgumentList[0].Idx0()), offset(call.ArgumentList[0].Idx1())
		o.tools = append(o.tools, sha256.Sum256(code[from:to]))
		s.edits = append(s.edits, edit{from: from, to: to, text: "{}"})
	}
	o.rest = sha256.Sum256(s.apply())
	return o
}

// makeLazy returns the module for an engine: the schemas of its tools become getters, and each call of defineTool gets
// the number of the tool in the outline. Lines stay the same. It also returns the number of tools.
func makeLazy(code []byte) ([]byte, int) {
	program, s, err := newEditor(code, func(string) bool { return false })
	if err != nil {
		return code, 0
	}
	s.findSchemas(program.Body)
	tools := s.topLevelTools(program.Body)
	for i, call := range tools {
		s.delaySchemas(call)
		at := offset(call.RightParenthesis)
		s.edits = append(s.edits, edit{from: at, to: at, text: fmt.Sprintf(", %d", i)})
	}
	return s.apply(), len(tools)
}

// delaySchemas turns the schemas of a tool into getters.
func (s *editor) delaySchemas(call *ast.CallExpression) {
	tool, _ := call.ArgumentList[0].(*ast.ObjectLiteral)
	for _, property := range tool.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed || p.Kind != ast.PropertyKindValue {
			continue
		}
		name := keyName(p.Key)
		check := pureChecker{schemas: s.names.schemas}
		if name != "input" && name != "output" || !check.pure(p.Value) || !check.usesSchema {
			continue
		}
		from, value, to := offset(p.Idx0()), offset(p.Value.Idx0()), offset(p.Value.Idx1())
		if next, _ := s.byteAfter(to); s.byteBefore(value) != ':' || next != ',' && next != '}' {
			continue
		}
		s.edits = append(s.edits,
			edit{from: from, to: value, text: fmt.Sprintf("get %s() { return (", name)},
			edit{from: to, to: to, text: "); }"})
	}
}

// topLevelTools returns the calls of defineTool with one object that stand outside of functions and loops, in order.
func (s *editor) topLevelTools(body []ast.Statement) []*ast.CallExpression {
	var found []*ast.CallExpression
	for _, statement := range body {
		if export, ok := statement.(*ast.ExportDeclaration); ok {
			switch {
			case export.Variable != nil:
				statement = export.Variable
			case export.LexicalDeclaration != nil:
				statement = export.LexicalDeclaration
			case export.AssignExpression != nil:
				found = s.toolsIn(export.AssignExpression, found)
			}
		}
		switch d := statement.(type) {
		case *ast.VariableStatement:
			for _, b := range d.List {
				found = s.toolsIn(b.Initializer, found)
			}
		case *ast.LexicalDeclaration:
			for _, b := range d.List {
				found = s.toolsIn(b.Initializer, found)
			}
		}
	}
	return found
}

// toolsIn finds calls of defineTool by themselves, in lists, and in the plugin they belong to.
func (s *editor) toolsIn(e ast.Expression, found []*ast.CallExpression) []*ast.CallExpression {
	switch e := e.(type) {
	case *ast.CallExpression:
		if s.names.isDefineTool(e.Callee) && len(e.ArgumentList) == 1 {
			if _, ok := e.ArgumentList[0].(*ast.ObjectLiteral); ok {
				return append(found, e)
			}
		}
		for _, argument := range e.ArgumentList {
			found = s.toolsIn(argument, found)
		}
	case *ast.ArrayLiteral:
		for _, one := range e.Value {
			found = s.toolsIn(one, found)
		}
	case *ast.ObjectLiteral:
		for _, property := range e.Value {
			if p, ok := property.(*ast.PropertyKeyed); ok {
				found = s.toolsIn(p.Value, found)
			}
		}
	}
	return found
}

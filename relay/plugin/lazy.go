package plugin

import (
	"crypto/sha256"
	"fmt"

	"github.com/grafana/sobek/ast"
)

// Reading a plugin's tools is mostly building schemas: every method of a schema library makes a new object of many
// parts. Two things spare most of it. A tool that is defined outside of any function has its schemas built only when
// somebody asks for them, so that engines that share the tools share that work too. And the text of such a tool,
// together with everything around it, says all there is to say: the same texts mean the same tool.

// outline is a module seen as the tools that stand in it and the rest.
type outline struct {
	rest  [sha256.Size]byte   // of everything but the tools
	tools [][sha256.Size]byte // of each tool that is defined outside of functions, in their order
}

// readOutline returns the outline of a module whose handlers are gone; nil when it cannot be parsed.
func readOutline(code []byte) *outline {
	program, s, err := newStripper(code, func(string) bool { return false })
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

// makeLazy returns the module for an engine: the schemas of its tools are built when they are asked for, and each tool
// tells which of the outline it is. Lines stay what they are. It also returns how many tools the outline has.
func makeLazy(code []byte) ([]byte, int) {
	program, s, err := newStripper(code, func(string) bool { return false })
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

// delaySchemas makes getters of the schemas of a tool.
func (s *stripper) delaySchemas(call *ast.CallExpression) {
	tool, _ := call.ArgumentList[0].(*ast.ObjectLiteral)
	for _, property := range tool.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed || p.Kind != ast.PropertyKindValue {
			continue
		}
		name := keyName(p.Key)
		look := purity{schemas: s.names.schemas}
		if name != "input" && name != "output" || !look.pure(p.Value) || !look.mentions {
			continue
		}
		from, value, to := offset(p.Idx0()), offset(p.Value.Idx0()), offset(p.Value.Idx1())
		if next, _ := s.after(to); s.before(value) != ':' || next != ',' && next != '}' {
			continue
		}
		s.edits = append(s.edits,
			edit{from: from, to: value, text: fmt.Sprintf("get %s() { return (", name)},
			edit{from: to, to: to, text: "); }"})
	}
}

// topLevelTools returns the calls of defineTool with one object that stand outside of functions and loops, in order.
func (s *stripper) topLevelTools(body []ast.Statement) []*ast.CallExpression {
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

// toolsIn looks where tools are defined: by themselves, in lists, and in the plugin they belong to.
func (s *stripper) toolsIn(e ast.Expression, found []*ast.CallExpression) []*ast.CallExpression {
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

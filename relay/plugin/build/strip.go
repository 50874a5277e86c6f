package build

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/parser"
)

// The page needs a tool's name and handler, but not its schemas and texts, nor the schema library, which is larger than
// most plugins. Two edits of the plugin's module let the bundler drop them:
//
//   - defineTool({ … }) loses the properties that only describe the tool;
//   - a top-level value that is built from schemas only is marked as free of side effects, so that it is dropped when
//     it is unused. A schema that a handler uses stays, and with it the library.
//
// An edit is made only where the text around it has the form that the bundler prints.

// describingProperties are the properties of a tool that the page does not need.
var describingProperties = map[string]bool{
	"displayName": true, "description": true, "summary": true, "icon": true, "group": true, "input": true,
	"output":      true,
	"annotations": true, "timeoutMs": true, "maxTimeoutMs": true, "timeoutHint": true, "progressPattern": true,
	"frames": true, "arrayPath": true, "narrowHint": true,
}

// stripSchemas returns the module as the page needs it.
func stripSchemas(code []byte) []byte {
	if stripped, err := strip(code); err == nil {
		return stripped
	}
	// The engine's parser does not know the newest syntax.
	older := api.Transform(string(code), api.TransformOptions{
		Loader: api.LoaderJS, Target: engineTarget, Supported: engineSupports, LogLevel: api.LogLevelSilent,
	})
	if len(older.Errors) == 0 {
		if stripped, err := strip(older.Code); err == nil {
			return stripped
		}
	}
	return code
}

func strip(code []byte) ([]byte, error) {
	program, s, err := newEditor(code, func(name string) bool { return describingProperties[name] })
	if err != nil {
		return nil, err
	}
	s.markSchemas(program.Body)
	return s.apply(), nil
}

// stripHandlers returns the part of a module that describes its tools: the same text means the same tools. nil:
// unknown.
func stripHandlers(code []byte) []byte {
	_, s, err := newEditor(code, func(name string) bool { return name == "handle" })
	if err != nil {
		return nil
	}
	result := api.Transform(string(s.apply()), api.TransformOptions{
		Loader: api.LoaderJS, TreeShaking: api.TreeShakingTrue, MinifyWhitespace: true, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil
	}
	return result.Code
}

// newEditor parses a module and drops properties of its tools.
func newEditor(code []byte, unwanted func(name string) bool) (*ast.Program, *editor, error) {
	program, err := parser.ParseFile(nil, "source.js", code, 0, parser.IsModule, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, nil, err
	}
	s := &editor{code: code, names: readImports(program), unwanted: unwanted}
	s.dropProperties(reflect.ValueOf(program.Body))
	return program, s, nil
}

// edit replaces code[from:to].
type edit struct {
	from, to int
	text     string
}

type editor struct {
	code     []byte
	names    importedNames
	unwanted func(property string) bool // of a tool
	edits    []edit
}

func offset(at file.Idx) int { return int(at) - 1 }

// byteBefore is the last byte before a position that is not white space.
func (s *editor) byteBefore(at int) byte {
	text := bytes.TrimRight(s.code[:at], " \t\r\n")
	if len(text) == 0 {
		return 0
	}
	return text[len(text)-1]
}

// byteAfter is the first byte from a position on that is not white space, and its position.
func (s *editor) byteAfter(at int) (next byte, position int) {
	for position = at; position < len(s.code); position++ {
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(s.code[position])) {
			return s.code[position], position
		}
	}
	return 0, position
}

// apply makes the edits; of nested ones only the outer.
func (s *editor) apply() []byte {
	slices.SortStableFunc(s.edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out bytes.Buffer
	done := 0
	for _, e := range s.edits {
		if e.from < done {
			continue
		}
		out.Write(s.code[done:e.from])
		out.WriteString(e.text)
		done = e.to
	}
	out.Write(s.code[done:])
	return out.Bytes()
}

var (
	callType = reflect.TypeFor[*ast.CallExpression]()
	nodeType = reflect.TypeFor[ast.Node]()
)

// dropProperties drops the unwanted properties in every call of defineTool below a node.
func (s *editor) dropProperties(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			s.dropProperties(v.Index(i))
		}
	case reflect.Interface:
		if !v.IsNil() {
			s.dropProperties(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() || !v.Type().Implements(nodeType) && v.Elem().Kind() != reflect.Struct {
			return
		}
		if v.Type() == callType {
			if call, ok := v.Interface().(*ast.CallExpression); ok {
				s.dropFrom(call)
			}
		}
		s.dropProperties(v.Elem())
	case reflect.Struct:
		t := v.Type()
		for i := range v.NumField() {
			if name := t.Field(i).Name; name != "DeclarationList" && name != "File" {
				s.dropProperties(v.Field(i))
			}
		}
	}
}

func (s *editor) dropFrom(call *ast.CallExpression) {
	if !s.names.isDefineTool(call.Callee) || len(call.ArgumentList) != 1 {
		return
	}
	tool, ok := call.ArgumentList[0].(*ast.ObjectLiteral)
	if !ok {
		return
	}
	for _, property := range tool.Value {
		switch p := property.(type) {
		case *ast.PropertyShort:
			if p.Initializer == nil && s.unwanted(p.Name.Name.String()) {
				s.drop(offset(p.Idx0()), offset(p.Idx1()))
			}
		case *ast.PropertyKeyed:
			if !p.Computed && s.unwanted(keyName(p.Key)) {
				s.drop(s.propertyStart(p), offset(p.Idx1()))
			}
		}
	}
}

// propertyStart is where a property begins: the parser's position is after `async` and `*` of a method.
func (s *editor) propertyStart(p *ast.PropertyKeyed) int {
	at := offset(p.Idx0())
	for _, word := range []string{"*", "async"} {
		text := bytes.TrimRight(s.code[:at], " \t\r\n")
		if p.Kind == ast.PropertyKindMethod && bytes.HasSuffix(text, []byte(word)) {
			at = len(text) - len(word)
		}
	}
	return at
}

func keyName(key ast.Expression) string {
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value.String()
	case *ast.Identifier:
		return k.Name.String()
	}
	return ""
}

// drop removes a property and the comma after it.
func (s *editor) drop(from, to int) {
	next, at := s.byteAfter(to)
	if before := s.byteBefore(from); before != '{' && before != ',' {
		return
	}
	switch next {
	case ',':
		s.cut(from, at+1)
	case '}':
		s.cut(from, at)
	}
}

// cut removes a text but keeps its line breaks, so that the source map stays right.
func (s *editor) cut(from, to int) {
	lines := bytes.Repeat([]byte("\n"), bytes.Count(s.code[from:to], []byte("\n")))
	s.edits = append(s.edits, edit{from: from, to: to, text: string(lines)})
}

// markPure turns an initialiser into an expression that the bundler may drop when its value is unused.
func (s *editor) markPure(from, to int) {
	if next, _ := s.byteAfter(to); s.byteBefore(from) != '=' || next != ';' && next != ',' {
		return
	}
	inner := (&editor{code: s.code[:to], edits: s.within(from, to)}).apply()[from:]
	s.edits = append(s.edits, edit{from: from, to: to, text: fmt.Sprintf("/* @__PURE__ */ (() => (%s))()", inner)})
}

func (s *editor) within(from, to int) []edit {
	var inside []edit
	for _, e := range s.edits {
		if e.from >= from && e.to <= to {
			inside = append(inside, e)
		}
	}
	return inside
}

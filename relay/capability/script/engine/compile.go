package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/grafana/sobek"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/parser"

	"tabrelay/relay/lib/lazyregexp"
)

// source is the script's name in positions.
const source = "script.ts"

// opening stands on a line of its own before the script, so that its columns stay what they are.
const opening = "(async () => {\n"

// supports are what the engine lacks of what esbuild's target has.
var supports = map[string]bool{
	"async-generator": false, "for-await": false, "regexp-lookbehind-assertions": false, "regexp-match-indices": false,
	"regexp-named-capture-groups": false, "regexp-set-notation": false, "regexp-unicode-property-escapes": false,
}

// unreadable is what is wrong with a text that is no script.
type unreadable struct {
	message string
	at      Place
}

func (u *unreadable) Error() string { return u.message }

// compile makes a program of a script without its types: a function that runs it, and returns a promise of what it
// returns or of its last expression.
func compile(script string) (*sobek.Program, *Uses, error) {
	code, sources, err := withoutTypes(script)
	if err != nil {
		return nil, nil, err
	}
	loadMap := parser.WithSourceMapLoader(func(string) ([]byte, error) { return sources, nil })
	program, err := sobek.Parse("script.js", code+"\n//# sourceMappingURL=script.js.map", loadMap)
	if err != nil {
		wrong := &unreadable{message: err.Error()}
		if strings.Contains(wrong.message, "import not supported in script") {
			wrong.message = "import.meta" + noModules
		}
		return nil, nil, wrong
	}
	body, err := bodyOf(program)
	if err != nil {
		return nil, nil, err
	}
	uses, imports := usesOf(body)
	if imports {
		return nil, nil, &unreadable{message: "import()" + noModules}
	}
	if last := len(body.List) - 1; last >= 0 {
		if one, ok := body.List[last].(*ast.ExpressionStatement); ok {
			body.List[last] = &ast.ReturnStatement{Return: one.Idx0(), Argument: one.Expression}
		}
	}
	compiled, err := sobek.CompileAST(program, true)
	if err != nil {
		return nil, nil, &unreadable{message: err.Error()}
	}
	return compiled, uses, nil
}

func withoutTypes(script string) (code string, sources []byte, err error) {
	result := api.Transform(opening+script+"\n})", api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, Supported: supports, Sourcemap: api.SourceMapExternal,
		Sourcefile: source, LogLevel: api.LogLevelSilent, TsconfigRaw: "{}",
		// The engine fails at a direct eval in the field of a class.
		Define: map[string]string{"eval": "globalThis.eval"},
	})
	if len(result.Errors) == 0 {
		return string(result.Code), result.Map, nil
	}
	first := result.Errors[0]
	wrong := &unreadable{message: first.Text}
	if l := first.Location; l != nil {
		wrong.at = Place{Line: l.Line - 1, Column: l.Column + 1}
	}
	if modules.MatchString(script) {
		wrong.message += noModules
	}
	return "", nil, wrong
}

var modules = lazyregexp.New(`(?m)^\s*(import|export)\b`)

const noModules = ": a script has no modules, only what relay__run gives it"

// bodyOf is the body of the script. A text that closes the function around it is no script.
func bodyOf(program *ast.Program) (*ast.BlockStatement, error) {
	if len(program.Body) == 1 {
		if one, ok := program.Body[0].(*ast.ExpressionStatement); ok {
			if function, ok := one.Expression.(*ast.ArrowFunctionLiteral); ok {
				if body, ok := function.Body.(*ast.BlockStatement); ok {
					return body, nil
				}
			}
		}
	}
	return nil, &unreadable{message: "It closes a brace that it has not opened"}
}

// usesOf finds the tools that a script names.
func usesOf(body *ast.BlockStatement) (uses *Uses, imports bool) {
	w := walker{seen: map[any]bool{}, used: map[Used]bool{}, uses: &Uses{}}
	w.walk(reflect.ValueOf(body))
	return w.uses, w.imports
}

// walker looks at all nodes of a tree once; the tree has some of them in several places.
type walker struct {
	seen map[any]bool
	used map[Used]bool
	uses *Uses

	imports bool // modules
}

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		if !w.take(v.Interface()) {
			w.walk(v.Elem())
		}
	}
}

// reaching are names by which a script can reach tools that its text does not name.
var reaching = []string{"tools", "browser", "globalThis", "Function"}

// take reports whether it knows what a node names.
func (w *walker) take(node any) bool {
	switch one := node.(type) {
	case *ast.DynamicImportExpression:
		w.imports = true
	case *ast.ThisExpression:
		w.uses.Other = true
	case *ast.Identifier:
		w.uses.Other = w.uses.Other || slices.Contains(reaching, one.Name.String())
		return true
	}
	object, method, ok := member(node)
	if !ok {
		return false
	}
	w.uses.Other = w.uses.Other || method == "constructor"
	if id, isName := object.(*ast.Identifier); isName && id.Name == "browser" {
		w.add(Used{Object: "browser", Method: method})
		return true
	}
	tools, name, ok := member(object)
	if id, isName := tools.(*ast.Identifier); ok && isName && id.Name == "tools" {
		w.add(Used{Object: name, Method: method})
		return true
	}
	return false
}

func (w *walker) add(one Used) {
	if !w.used[one] {
		w.used[one] = true
		w.uses.Tools = append(w.uses.Tools, one)
	}
}

// member takes a member of something apart whose name the text says.
func member(node any) (of ast.Expression, name string, ok bool) {
	switch m := node.(type) {
	case *ast.DotExpression:
		return m.Left, m.Identifier.Name.String(), true
	case *ast.BracketExpression:
		if text, ok := m.Member.(*ast.StringLiteral); ok {
			return m.Left, text.Value.String(), true
		}
	}
	return nil, "", false
}

// failedToRead is how a text ends that is no script.
func failedToRead(err error) *Failed {
	if wrong, ok := errors.AsType[*unreadable](err); ok {
		return &Failed{Why: Unreadable, Message: wrong.message, At: wrong.at}
	}
	return &Failed{Why: Unreadable, Message: fmt.Sprint(err)}
}

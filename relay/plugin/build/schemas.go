package build

import (
	"slices"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"
)

// schemaPackages are schema libraries, whose calls have no side effects.
var schemaPackages = map[string]bool{
	"zod": true, "valibot": true, "arktype": true, "typebox": true, "@sinclair/typebox": true,
}

func isSchemaPackage(specifier string) bool {
	if specifier == sdkPath+"/schema" {
		return true
	}
	parts := strings.SplitN(specifier, "/", 3)
	if strings.HasPrefix(specifier, "@") && len(parts) > 1 {
		return schemaPackages[parts[0]+"/"+parts[1]]
	}
	return schemaPackages[parts[0]]
}

// importedNames are the local names of what a module imports.
type importedNames struct {
	defineTool map[string]bool
	sdk        map[string]bool // namespaces
	schemas    map[string]bool // what a schema library exports, and values built of it
}

func readImports(program *ast.Program) importedNames {
	names := importedNames{defineTool: map[string]bool{}, sdk: map[string]bool{}, schemas: map[string]bool{}}
	for _, declaration := range program.ImportEntries {
		if declaration.FromClause == nil || declaration.ImportClause == nil {
			continue
		}
		from := declaration.FromClause.ModuleSpecifier.String()
		if isSDK(from) {
			names.addSDK(declaration.ImportClause)
		}
		if isSchemaPackage(from) {
			names.addSchemas(declaration.ImportClause)
		}
	}
	return names
}

func (n importedNames) addSDK(clause *ast.ImportClause) {
	if clause.NameSpaceImport != nil {
		n.sdk[clause.NameSpaceImport.ImportedBinding.String()] = true
	}
	if clause.NamedImports == nil {
		return
	}
	for _, i := range clause.NamedImports.ImportsList {
		if i.IdentifierName.String() == "defineTool" {
			n.defineTool[localName(i)] = true
		}
	}
}

func localName(i *ast.ImportSpecifier) string {
	if i.Alias != "" {
		return i.Alias.String()
	}
	return i.IdentifierName.String()
}

func (n importedNames) addSchemas(clause *ast.ImportClause) {
	if clause.ImportedDefaultBinding != nil {
		n.schemas[clause.ImportedDefaultBinding.Name.String()] = true
	}
	if clause.NameSpaceImport != nil {
		n.schemas[clause.NameSpaceImport.ImportedBinding.String()] = true
	}
	if clause.NamedImports != nil {
		for _, i := range clause.NamedImports.ImportsList {
			n.schemas[localName(i)] = true
		}
	}
}

func (n importedNames) isDefineTool(callee ast.Expression) bool {
	switch c := callee.(type) {
	case *ast.Identifier:
		return n.defineTool[c.Name.String()]
	case *ast.DotExpression:
		left, ok := c.Left.(*ast.Identifier)
		return ok && n.sdk[left.Name.String()] && c.Identifier.Name.String() == "defineTool"
	}
	return false
}

// markSchemas marks every top-level value that is built of schemas only as free of side effects.
func (s *editor) markSchemas(body []ast.Statement) {
	for b := range s.findSchemas(body) {
		if b.Initializer != nil && !isFunction(b.Initializer) {
			s.markPure(offset(b.Initializer.Idx0()), offset(b.Initializer.Idx1()))
		}
	}
}

// findSchemas finds those values, and adds their names to s.names.schemas. It repeats until it finds no more, because
// values may be built of others in any order.
func (s *editor) findSchemas(body []ast.Statement) map[*ast.Binding]bool {
	marked := map[*ast.Binding]bool{}
	if len(s.names.schemas) == 0 {
		return marked
	}
	for found := true; found; {
		found = false
		for _, statement := range body {
			for name, b := range s.definitions(statement) {
				if !s.names.schemas[name] && s.isSchema(b) {
					s.names.schemas[name], marked[b], found = true, true, true
				}
			}
		}
	}
	return marked
}

// definitions returns the values and functions that a top-level statement defines, by name.
func (s *editor) definitions(statement ast.Statement) map[string]*ast.Binding {
	var list []*ast.Binding
	switch d := statement.(type) {
	case *ast.VariableStatement:
		list = d.List
	case *ast.LexicalDeclaration:
		list = d.List
	case *ast.FunctionDeclaration:
		if d.Function.Name != nil {
			name := d.Function.Name
			return map[string]*ast.Binding{name.Name.String(): {Target: name, Initializer: d.Function}}
		}
	}
	named := map[string]*ast.Binding{}
	for _, b := range list {
		if target, ok := b.Target.(*ast.Identifier); ok && b.Initializer != nil {
			named[target.Name.String()] = b
		}
	}
	return named
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// isSchema reports whether a value is built of schemas only, or is a function that only builds one.
func (s *editor) isSchema(b *ast.Binding) bool {
	value := b.Initializer
	if isFunction(value) {
		if value = singleReturn(value); value == nil {
			return false
		}
	}
	check := pureChecker{schemas: s.names.schemas}
	return check.pure(value) && check.usesSchema
}

// singleReturn returns the expression of a function that only returns it; else nil.
func singleReturn(function ast.Expression) ast.Expression {
	var body ast.Node
	switch f := function.(type) {
	case *ast.FunctionLiteral:
		if f.Async || f.Generator {
			return nil
		}
		body = f.Body
	case *ast.ArrowFunctionLiteral:
		if f.Async {
			return nil
		}
		body = f.Body
	}
	switch b := body.(type) {
	case *ast.ExpressionBody:
		return b.Expression
	case *ast.BlockStatement:
		if len(b.List) == 1 {
			if r, ok := b.List[0].(*ast.ReturnStatement); ok {
				return r.Argument
			}
		}
	}
	return nil
}

// pureChecker checks that an expression has no side effects.
type pureChecker struct {
	schemas    map[string]bool
	usesSchema bool // a schema occurs in it
}

// pureMethods have no side effects on values that are not schemas, such as lists of names.
var pureMethods = map[string]bool{
	"map": true, "filter": true, "slice": true, "concat": true, "join": true, "flat": true, "flatMap": true,
	"keys":   true,
	"values": true, "entries": true, "fromEntries": true, "from": true, "freeze": true, "includes": true, "find": true,
}

// impureMethods of a schema library change global state.
var impureMethods = map[string]bool{"config": true, "setErrorMap": true}

func (p *pureChecker) pure(e ast.Expression) bool {
	switch e := e.(type) {
	case nil, *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral,
		*ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	case *ast.Identifier:
		p.usesSchema = p.usesSchema || p.schemas[e.Name.String()]
		return true
	case *ast.DotExpression:
		return p.pure(e.Left)
	case *ast.BracketExpression:
		return p.pure(e.Left) && p.pure(e.Member)
	case *ast.OptionalChain:
		return p.pure(e.Expression)
	case *ast.Optional:
		return p.pure(e.Expression)
	case *ast.SpreadElement:
		return p.pure(e.Expression)
	case *ast.ArrayLiteral:
		return p.all(e.Value)
	case *ast.ObjectLiteral:
		return p.fields(e.Value)
	case *ast.ConditionalExpression:
		return p.pure(e.Test) && p.pure(e.Consequent) && p.pure(e.Alternate)
	case *ast.BinaryExpression:
		return p.pure(e.Left) && p.pure(e.Right)
	case *ast.UnaryExpression:
		return (e.Operator == token.MINUS || e.Operator == token.PLUS || e.Operator == token.NOT) && p.pure(e.Operand)
	case *ast.TemplateLiteral:
		return e.Tag == nil && p.all(e.Expressions)
	case *ast.CallExpression:
		return p.call(e)
	}
	return false
}

func (p *pureChecker) all(list []ast.Expression) bool {
	return !slices.ContainsFunc(list, func(e ast.Expression) bool { return !p.pure(e) })
}

func (p *pureChecker) fields(list []ast.Property) bool {
	for _, property := range list {
		switch f := property.(type) {
		case *ast.PropertyShort:
			p.usesSchema = p.usesSchema || p.schemas[f.Name.Name.String()]
		case *ast.PropertyKeyed:
			if f.Computed && !p.pure(f.Key) || !p.pure(f.Value) {
				return false
			}
		case *ast.SpreadElement:
			if !p.pure(f.Expression) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (p *pureChecker) call(e *ast.CallExpression) bool {
	method, isMethod := e.Callee.(*ast.DotExpression)
	if isMethod && impureMethods[method.Identifier.Name.String()] {
		return false
	}
	reads := isMethod && pureMethods[method.Identifier.Name.String()]
	if !reads && !p.schemas[rootName(e.Callee)] {
		return false
	}
	return p.pure(e.Callee) && p.all(e.ArgumentList)
}

// rootName is the first name of an access or a chain of calls: z of z.string().min(1).
func rootName(e ast.Expression) string {
	for {
		switch at := e.(type) {
		case *ast.Identifier:
			return at.Name.String()
		case *ast.DotExpression:
			e = at.Left
		case *ast.BracketExpression:
			e = at.Left
		case *ast.CallExpression:
			e = at.Callee
		case *ast.OptionalChain:
			e = at.Expression
		case *ast.Optional:
			e = at.Expression
		default:
			return ""
		}
	}
}

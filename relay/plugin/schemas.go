package plugin

import (
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"
)

// schemaPackages build schemas by calls that change nothing else.
var schemaPackages = map[string]bool{"zod": true, "valibot": true, "arktype": true, "typebox": true, "@sinclair/typebox": true}

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

// importedNames are the names a module has for what it imports.
type importedNames struct {
	defineTool map[string]bool
	sdk        map[string]bool // namespaces
	schemas    map[string]bool // whatever a schema library exports, and what is built of it
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

// markSchemas marks every top-level value that is built of schemas only. A value built of another one is found in a
// later round, whatever their order.
func (s *stripper) markSchemas(body []ast.Statement) {
	for b := range s.findSchemas(body) {
		if b.Initializer != nil && !isFunction(b.Initializer) {
			s.markPure(offset(b.Initializer.Idx0()), offset(b.Initializer.Idx1()))
		}
	}
}

// findSchemas finds those values, and adds their names to those of the schema libraries.
func (s *stripper) findSchemas(body []ast.Statement) map[*ast.Binding]bool {
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

// definitions returns the names a top-level statement gives to values. A function counts as one.
func (s *stripper) definitions(statement ast.Statement) map[string]*ast.Binding {
	var list []*ast.Binding
	switch d := statement.(type) {
	case *ast.VariableStatement:
		list = d.List
	case *ast.LexicalDeclaration:
		list = d.List
	case *ast.FunctionDeclaration:
		if d.Function.Name != nil {
			return map[string]*ast.Binding{d.Function.Name.Name.String(): {Target: d.Function.Name, Initializer: d.Function}}
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

// isSchema reports whether a value is built of schemas only, or is a function that does nothing but build one.
func (s *stripper) isSchema(b *ast.Binding) bool {
	value := b.Initializer
	if isFunction(value) {
		if value = onlyResult(value); value == nil {
			return false
		}
	}
	look := purity{schemas: s.names.schemas}
	return look.pure(value) && look.mentions
}

// onlyResult returns the expression of a function that consists of returning it.
func onlyResult(function ast.Expression) ast.Expression {
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

// purity looks whether an expression can be left out without anything else changing.
type purity struct {
	schemas  map[string]bool
	mentions bool // a schema occurs in it
}

// Methods that change nothing, on values that are no schemas: lists of names and the like.
var readingMethods = map[string]bool{
	"map": true, "filter": true, "slice": true, "concat": true, "join": true, "flat": true, "flatMap": true, "keys": true,
	"values": true, "entries": true, "fromEntries": true, "from": true, "freeze": true, "includes": true, "find": true,
}

// Calls on a schema library that set something for everybody.
var settingMethods = map[string]bool{"config": true, "setErrorMap": true}

func (p *purity) pure(e ast.Expression) bool {
	switch e := e.(type) {
	case nil, *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral,
		*ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	case *ast.Identifier:
		p.mentions = p.mentions || p.schemas[e.Name.String()]
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

func (p *purity) all(list []ast.Expression) bool {
	for _, e := range list {
		if !p.pure(e) {
			return false
		}
	}
	return true
}

func (p *purity) fields(list []ast.Property) bool {
	for _, property := range list {
		switch f := property.(type) {
		case *ast.PropertyShort:
			p.mentions = p.mentions || p.schemas[f.Name.Name.String()]
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

func (p *purity) call(e *ast.CallExpression) bool {
	method, isMethod := e.Callee.(*ast.DotExpression)
	if isMethod && settingMethods[method.Identifier.Name.String()] {
		return false
	}
	reads := isMethod && readingMethods[method.Identifier.Name.String()]
	if !reads && !p.schemas[root(e.Callee)] {
		return false
	}
	return p.pure(e.Callee) && p.all(e.ArgumentList)
}

// root returns the name an access or a chain of calls begins with: z of z.string().min(1).
func root(e ast.Expression) string {
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

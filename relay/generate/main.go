// Command generate writes what follows from the table of failures, with those of capabilities: the reference page, and
// the constants of the extension and of the plugin SDK. It runs in relay/road/fault, by go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "tabrelay/relay" // attaches the capabilities
	"tabrelay/relay/road/fault"
)

// outputs are the generated files, relative to the root of the repository.
var outputs = map[string]func() string{
	"docs/errors.md": page,
	"extension/src/protocol/faults.generated.ts":         extensionConstants,
	"plugin-sdk/src/faults.generated.ts":                 sdkConstants,
	"extension/src/browser/dev/secretnames.generated.ts": vocabulary,
}

func main() {
	for name, text := range outputs {
		path := filepath.Join("..", "..", "..", filepath.FromSlash(name))
		if err := os.WriteFile(path, []byte(text()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "error: cannot write", name+":", err)
			os.Exit(1)
		}
	}
}

const banner = "// Generated from the table in relay/road/fault by `go generate ./relay/road/fault`. Do not edit.\n\n"

// extensionConstants are every code there is: what the relay may say, and what a page may have thrown.
func extensionConstants() string {
	var b strings.Builder
	b.WriteString(banner)
	union(&b, "errorCategories", "ErrorCategory", "What kind of failure it is, as far as an agent has to know.",
		categories)
	union(&b, "outcomes", "Outcome", "Whether the action happened.", outcomes)
	var codes []string
	for _, row := range fault.Table() {
		codes = append(codes, string(row.Code))
	}
	union(&b, "faultCodes", "FaultCode",
		"Every code of a failure that the relay raises itself. Pages throw others as well.", codes)
	return strings.TrimSuffix(b.String(), "\n")
}

// vocabulary is the words by which credentials are known.
func vocabulary() string {
	return banner + "/** The words by which credentials are known. */\nexport const secretNames: Record<string, " +
		"readonly string[]> = " +
		strings.TrimSpace(string(fault.VocabularyJSON())) + ";\n"
}

// sdkConstants are what ToolError needs.
func sdkConstants() string {
	var b strings.Builder
	b.WriteString(banner)
	union(&b, "errorCategories", "ErrorCategory", "What kind of failure it is, as far as an agent has to know.",
		categories)
	union(&b, "outcomes", "Outcome", "Whether the action happened: the handler knows it best.", outcomes)
	b.WriteString("/** What the factories of ToolError set, by their names. */\nexport const factories = {\n")
	for _, f := range factories {
		fmt.Fprintf(&b, "  %s: { code: '%s', category: '%s', retryable: %t },\n", f.Name, f.Code, f.Category,
			f.Retryable)
	}
	b.WriteString("} as const;\n")
	return b.String()
}

var outcomes = []string{string(fault.NotExecuted), string(fault.Executed), string(fault.Unknown)}

// categories are the six, in the order that the documentation has.
var categories = []string{string(fault.Auth), string(fault.RateLimit), string(fault.NotFound),
	string(fault.Validation), string(fault.Internal), string(fault.Timeout)}

// factories are the ways in which an adapter makes a ToolError: static methods of the plugin SDK, with the code that
// each gives unless the adapter gives another.
var factories = []struct {
	Name      string
	Code      fault.Code
	Category  fault.Category
	Retryable bool
}{
	{"auth", fault.AuthError, fault.Auth, false}, {"notFound", fault.NotFoundCode, fault.NotFound, false},
	{"rateLimited", fault.RateLimited, fault.RateLimit, true},
	{"validation", fault.ValidationError, fault.Validation, false},
	{"timeout", fault.TimeoutCode, fault.Timeout, true}, {"internal", fault.InternalError, fault.Internal, false},
}

// union writes a list of names and the type of its members, formatted as the project's formatter would.
func union(b *strings.Builder, list, name, comment string, members []string) {
	const lineWidth = 110
	quoted := "'" + strings.Join(members, "', '") + "'"
	line := fmt.Sprintf("export const %s = [%s] as const;\n", list, quoted)
	if len(line) > lineWidth {
		line = fmt.Sprintf("export const %s = [\n  %s,\n] as const;\n", list, strings.ReplaceAll(quoted, ", ", ",\n  "))
	}
	fmt.Fprintf(b, "/** %s */\n%sexport type %s = (typeof %s)[number];\n\n", comment, line, name, list)
}

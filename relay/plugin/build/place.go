package build

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/plugin"
)

// placeForm is what an error thrown in a page says of where: the path of the injected file, line and column from 1.
var placeForm = lazyregexp.New(`^(.+):(\d{1,7}):(\d{1,7})$`)

// InjectedFile is the name of the file of a place such as "/adapters/tea-shop-0123456789ab.js:1:605".
func InjectedFile(place string) string {
	part := placeForm.FindStringSubmatch(place)
	if part == nil {
		return ""
	}
	return part[1][strings.LastIndexByte(part[1], '/')+1:]
}

// SourcePlace finds the source of a place in the file that was injected for a plugin, whose content is injected. It
// needs the plugin as its folder was built; ok is false when the place is in none of its sources.
func SourcePlace(p *plugin.Plugin, injected []byte, place string) (d Diagnostic, ok bool) {
	part := placeForm.FindStringSubmatch(place)
	begin := bytes.Index(injected, p.Adapter)
	if part == nil || begin < 0 {
		return d, false
	}
	line, _ := strconv.Atoi(part[2]) // digits
	column, _ := strconv.Atoi(part[3])
	ahead := injected[:begin]
	if line -= bytes.Count(ahead, []byte("\n")); line == 1 {
		column -= len(ahead) - bytes.LastIndexByte(ahead, '\n') - 1
	}
	lines := bytes.Split(p.Adapter, []byte("\n"))
	if line < 1 || line > len(lines) || column < 1 {
		return d, false
	}
	sources, err := sourcemap.Parse("", p.SourceMap)
	if err != nil {
		return d, false
	}
	file, _, sourceLine, sourceColumn, ok := sources.Source(line, beforeOwnExports(lines[line-1], column-1))
	if !ok || file == "" {
		return d, false
	}
	d = Diagnostic{File: file, Line: sourceLine, Column: sourceColumn + 1}
	f := &folder{dir: p.Dir}
	_ = f.open() // what cannot be read has no line to show
	defer f.close()
	if content, err := f.read(file); err == nil {
		if all := strings.Split(string(content), "\n"); d.Line >= 1 && d.Line <= len(all) {
			d.Frame = frame(d, all[d.Line-1])
		}
	}
	return d, true
}

// OfSDK tells the SDK's sources from the author's: file is the name of one in the SDK.
func OfSDK(source string) (file string, ok bool) { return strings.CutPrefix(source, sdkNamespace+":") }

// ownLoop is what ownExports makes of the bundler's loop, which source maps do not know of.
var ownLoop = lazyregexp.New(
	`for ?\(var [\w$]+ of Object\.keys\([\w$]+\)\)\s*[\w$]+\([\w$]+, ?[\w$]+, ?\{ ?get: ?[\w$]+\[`)

// beforeOwnExports is the column that a column of a line had in the bundler's output.
func beforeOwnExports(line []byte, column int) int {
	const added = len(" of Object.keys()") - len(" in ")
	for _, at := range ownLoop.FindAllIndex(line, -1) {
		if at[1] <= column {
			column -= added
		}
	}
	return column
}

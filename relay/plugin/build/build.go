// Package build turns a folder of TypeScript into a plugin: it bundles with esbuild, reads the tools and their schemas
// by running the bundle once in an embedded JavaScript engine, and knows which plugin folders a person added, watches
// and scaffolds them. It needs no Node.
package build

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/plugin"
)

// Options of a build.
type Options struct {
	Out     string // folder for manifest.json and adapter.js; empty: dist in the plugin's folder; "-": write nothing
	Shipped bool   // the plugin becomes part of the binary: it may be one for the pages of every site
}

// Build makes a plugin from its folder and writes it to dist/. Diagnostics hold the warnings of a build that
// succeeded; the error of one that did not is an *InvalidError with all of them.
func Build(ctx context.Context, dir string, opts Options) (*plugin.Plugin, []Diagnostic, error) {
	b, err := NewBuilder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	return b.Build(ctx, opts)
}

// Builder builds one plugin repeatedly, and reuses what did not change in between.
type Builder struct {
	dir string

	mu       lock.Mutex // held during a build; guards what follows
	folder   *folder
	source   *sourceBundle
	page     *pageBundle
	packages *packageBundle
	reader   *reader
	entry    string // of the last build: one of entryFiles
	cached   toolCache
}

// NewBuilder prepares to build the plugin in a folder. It does not read the folder yet.
func NewBuilder(dir string) (*Builder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// The bundler reports real paths, so whether a file is the plugin's own is a question about real paths.
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	f := &folder{dir: dir}
	b := &Builder{
		dir: dir, folder: f, source: &sourceBundle{folder: f}, packages: &packageBundle{folder: f},
		reader: newReader(loadLimit),
	}
	b.page, err = newPageBundle(f)
	return b, err
}

// Close releases the builder. It may be called twice.
func (b *Builder) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.source == nil {
		return
	}
	b.source.close()
	b.page.close()
	b.folder.close()
	b.reader.close()
	b.source = nil
}

// Build builds the plugin from the current content of its folder.
func (b *Builder) Build(ctx context.Context, opts Options) (*plugin.Plugin, []Diagnostic, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, found, err := b.build(ctx, opts.Shipped)
	if err != nil {
		return nil, found, err
	}
	switch opts.Out {
	case "-":
		return p, found, nil
	case "":
		opts.Out = filepath.Join(b.dir, "dist")
		if info, err := os.Lstat(opts.Out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, found, fmt.Errorf("%s is a link, and a build writes into the plugin's own folder; "+
				"remove it, or choose a folder with --out", opts.Out)
		}
		if err := refreshSDK(b.dir); err != nil {
			return nil, found, err
		}
	}
	return p, found, writeOutput(opts.Out, p)
}

func (b *Builder) build(ctx context.Context, shipped bool) (*plugin.Plugin, []Diagnostic, error) {
	_ = b.folder.open() // without a folder there is no package.json, which is reported
	defer b.folder.close()
	b.entry = entryFile
	p, found, err := b.buildFolder(ctx, shipped)
	for i := range found {
		if found[i].File == entryFile {
			found[i].File = b.entry // who found it does not know the name
		}
	}
	if invalid(found) != nil {
		found = b.withFrames(found)
		err = invalid(found)
	}
	return p, found, err
}

func (b *Builder) buildFolder(ctx context.Context, shipped bool) (*plugin.Plugin, []Diagnostic, error) {
	src, found := readPackage(b.folder, packageUse{shipped: shipped})
	if src == nil {
		return nil, found, invalid(found)
	}
	m, more := b.bundleSource()
	found = append(found, more...)
	if m == nil {
		return nil, found, invalid(found)
	}
	manifest := src.manifest()
	adapter, read, more := b.bundleAndRead(ctx, src, m)
	if err := ctx.Err(); err != nil {
		return nil, found, err
	}
	found = append(found, more...)
	if read != nil {
		manifest.Tools = read.tools
		found = append(found, fillFrom(&manifest, read.info)...)
	}
	preScript, more := b.preScript(src)
	found = append(found, more...)
	if preScript != nil {
		manifest.PreScript = plugin.PreScriptFile
	}
	manifest.Prompts, more = readPrompts(b.folder, manifest.Name)
	found = append(found, more...)
	if err := invalid(found); err != nil {
		return nil, found, err
	}
	p := &plugin.Plugin{
		Manifest: manifest, Dir: b.dir, PreScript: preScript, SourceMap: adapter.sources,
		Adapter: append(adapter.code, defaultsScript(manifest.Tools)...),
	}
	if err := p.Seal(); err != nil {
		return nil, found, err
	}
	return p, found, nil
}

// bundleSource bundles the plugin's own sources, if there are any.
func (b *Builder) bundleSource() (*module, []Diagnostic) {
	entry, found := findEntry(b.folder)
	if entry == "" {
		return nil, found
	}
	b.entry = entry
	return b.source.build(entry)
}

// preScript bundles the plugin's pre-script; nil when it has none.
func (b *Builder) preScript(src *source) ([]byte, []Diagnostic) {
	entry := src.Plugin.PreScript
	if entry == "" {
		return nil, nil
	}
	return buildPreScript(b.folder, entry)
}

// fillFrom takes from the plugin's code what package.json leaves out.
func fillFrom(m *plugin.Manifest, info *pluginInfo) []Diagnostic {
	var found []Diagnostic
	about := info.About
	m.Description = cmp.Or(m.Description, strings.TrimSpace(about.Description))
	if m.Homepage == "" && isWebAddress(about.Homepage) {
		m.Homepage = about.Homepage
	}
	if len(m.ExcludePatterns) == 0 && len(about.ExcludePatterns) > 0 {
		m.ExcludePatterns = about.ExcludePatterns
		if _, err := match.NewRule(nil, about.ExcludePatterns); err != nil {
			found = append(found, faultf(entryFile, "exclude pattern %v", err)...)
		}
	}
	if len(m.ConfigSchema) == 0 && len(about.ConfigSchema) > 0 {
		m.ConfigSchema = about.ConfigSchema
		for _, problem := range plugin.CheckSettings(about.ConfigSchema) {
			found = append(found, faultf(entryFile, "%s", problem)...)
		}
	}
	return found
}

// bundleAndRead bundles for the page and reads the tools at the same time.
func (b *Builder) bundleAndRead(ctx context.Context, src *source, m *module) (adapter script, read *toolCache,
	found []Diagnostic) {
	var wait sync.WaitGroup
	var pageFound []Diagnostic
	wait.Go(func() { adapter, pageFound = b.page.build(m) })
	read, found = b.readTools(ctx, src, m)
	wait.Wait()
	return adapter, read, append(found, dropRepeated(pageFound, found)...)
}

// dropRepeated leaves out what reading has reported already: a package that does not bundle fails in both.
func dropRepeated(found, known []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(found, func(d Diagnostic) bool {
		ours := strings.HasPrefix(d.File, pageEntryFile) // the bundler's words for a fault that reading reported
		return ours && len(known) > 0 || slices.ContainsFunc(known, func(k Diagnostic) bool { return k.Text == d.Text })
	})
}

func (s *source) manifest() plugin.Manifest {
	p := s.Plugin
	return plugin.Manifest{
		Name:            s.name,
		Version:         s.Package.Version,
		DisplayName:     p.DisplayName,
		Description:     strings.TrimSpace(p.Description),
		URLPatterns:     p.URLPatterns,
		ExcludePatterns: p.ExcludePatterns,
		Homepage:        p.Homepage,
		World:           p.World,
		ConfigSchema:    p.ConfigSchema,
	}
}

// Diagnostic is one thing wrong, or worth knowing, about a plugin folder.
type Diagnostic struct {
	File    string `json:"file,omitempty"` // relative to the folder, with forward slashes
	Line    int    `json:"line,omitempty"` // from 1; 0 when the whole file is meant
	Column  int    `json:"column,omitempty"`
	Text    string `json:"text"` // one sentence: what is wrong and, where it is not plain, what to write
	Warning bool   `json:"warning,omitempty"`
	Frame   string `json:"frame,omitempty"` // the line with its number, and below it a mark at the column

	field string // which it is about, of what begins at the line; empty: none
}

// faultf is one diagnostic about a whole file; an empty name is the plugin itself.
func faultf(file, format string, args ...any) []Diagnostic {
	return []Diagnostic{{File: file, Text: fmt.Sprintf(format, args...)}}
}

// withFrames adds the lines that diagnostics are about, and leaves out what is said twice.
func (b *Builder) withFrames(found []Diagnostic) (once []Diagnostic) {
	sources := map[string][]string{}
	for _, d := range found {
		lines, read := sources[d.File]
		if !read && d.Line > 0 {
			content, _ := b.folder.read(d.File) // one that cannot be read has no lines
			lines = strings.Split(string(content), "\n")
			sources[d.File] = lines
		}
		if d.Line > 0 && d.Line <= len(lines) {
			d.findField(lines)
			d.Frame = frame(d, lines[d.Line-1])
		}
		said := func(other Diagnostic) bool { return other.String() == d.String() }
		if !slices.ContainsFunc(once, said) {
			once = append(once, d)
		}
	}
	return once
}

// findField moves a diagnostic to the line and column of its field, if the tool that begins at its line names it.
func (d *Diagnostic) findField(lines []string) {
	if d.field == "" {
		return
	}
	named := regexp.MustCompile(`(?:^|[\s{,])['"]?(` + regexp.QuoteMeta(d.field) + `)['"]?\s*[:(,}]`)
	for i, line := range lines[d.Line-1:] {
		if i > 0 && strings.Contains(line, "defineTool(") {
			return
		}
		if at := named.FindStringSubmatchIndex(line); at != nil {
			d.Line, d.Column = d.Line+i, at[2]+1
			return
		}
	}
}

// maxFrame is how long a line may be to be shown.
const maxFrame = 160

// frame is a line of a source with its number, and below it a mark at the column.
func frame(d Diagnostic, line string) string {
	line = strings.TrimRight(line, "\r")
	if strings.TrimSpace(line) == "" || len(line) > maxFrame || strings.ContainsFunc(line, plugin.IsInvisible) {
		return ""
	}
	number := fmt.Sprintf("%5d | ", d.Line)
	if d.Column < 1 || d.Column > len(line)+1 {
		return number + line
	}
	blank := func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}
	return number + line + "\n      | " + strings.Map(blank, line[:d.Column-1]) + "^"
}

// String returns "src/index.ts:3:7: error: …", a form that editors and terminals link to the place.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.Place() + ": ")
	}
	if d.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(d.Text)
	return b.String()
}

// Place is "src/index.ts:3:7", as far as it is known.
func (d Diagnostic) Place() string {
	switch {
	case d.Line == 0:
		return d.File
	case d.Column == 0:
		return fmt.Sprintf("%s:%d", d.File, d.Line)
	}
	return fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
}

// InvalidError says why a plugin folder cannot become a plugin.
type InvalidError struct {
	Diagnostics []Diagnostic // at least one that is no warning
}

// Framed is Error with the lines that the diagnostics are about below them.
func (e *InvalidError) Framed() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if d.Warning {
			continue
		}
		lines = append(lines, "error: "+d.String())
		if d.Frame != "" {
			lines = append(lines, d.Frame)
		}
	}
	return strings.Join(lines, "\n")
}

// Error returns every diagnostic that is no warning, each on a line of its own.
func (e *InvalidError) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if !d.Warning {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// invalid returns an *InvalidError when a diagnostic is more than a warning.
func invalid(diagnostics []Diagnostic) error {
	if slices.ContainsFunc(diagnostics, func(d Diagnostic) bool { return !d.Warning }) {
		return &InvalidError{Diagnostics: diagnostics}
	}
	return nil
}

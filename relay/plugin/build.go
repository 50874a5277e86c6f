package plugin

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/match"
)

// Options of a build.
type Options struct {
	Out     string // folder for manifest.json and adapter.js; empty: dist in the plugin's folder; "-": write nothing
	Shipped bool   // the plugin becomes part of the binary: it may be one for the pages of every site
}

// Build makes a plugin from its folder and writes it to dist/. Diagnostics hold the warnings of a build that
// succeeded; the error of one that did not is an *InvalidError with all of them.
func Build(ctx context.Context, dir string, opts Options) (*Plugin, []Diagnostic, error) {
	b, err := NewBuilder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	return b.Build(ctx, opts)
}

// Builder builds one plugin again and again, and remembers what did not change in between.
type Builder struct {
	dir string

	mu       sync.Mutex // one build at a time; guards what follows
	folder   *folder
	source   *sourceBundle
	page     *pageBundle
	packages *packageBundle
	reader   *reader
	files    []string // sources of the last build, relative to dir
	last     remembered
}

// NewBuilder prepares to build the plugin in a folder. It does not look at the folder yet.
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
	b := &Builder{dir: dir, folder: f, source: &sourceBundle{folder: f}, packages: &packageBundle{folder: f}, reader: newReader(readingLimit)}
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

// Sources returns the files the last build was made of, relative to the plugin's folder.
func (b *Builder) Sources() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.files)
}

// Build builds the plugin as its folder is now.
func (b *Builder) Build(ctx context.Context, opts Options) (*Plugin, []Diagnostic, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	plugin, found, err := b.build(ctx, opts.Shipped)
	if err != nil {
		return nil, found, err
	}
	switch opts.Out {
	case "-":
		return plugin, found, nil
	case "":
		opts.Out = filepath.Join(b.dir, "dist")
		if info, err := os.Lstat(opts.Out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, found, fmt.Errorf("%s is a link, and a build writes into the plugin's own folder; remove it, or choose a folder with --out", opts.Out)
		}
		if err := refreshTypes(b.dir); err != nil {
			return nil, found, err
		}
	}
	return plugin, found, write(opts.Out, plugin)
}

func (b *Builder) build(ctx context.Context, shipped bool) (*Plugin, []Diagnostic, error) {
	_ = b.folder.open() // without a folder there is no package.json, which is what is said
	defer b.folder.close()
	src, found := readPackage(b.folder, shipped)
	if src == nil {
		return nil, found, invalid(found)
	}
	switch at, err := b.folder.file(entryFile); {
	case err != nil:
		found = append(found, Diagnostic{File: entryFile, Text: err.Error()})
		return nil, found, invalid(found)
	case at == "":
		found = append(found, Diagnostic{File: entryFile, Text: "is missing; it exports the plugin: export default definePlugin({ tools: [ … ] })"})
		return nil, found, invalid(found)
	}
	m, more := b.source.build()
	found = append(found, more...)
	if m == nil {
		return nil, found, invalid(found)
	}
	b.files = m.files
	manifest := src.manifest()
	adapter, said, more := b.both(ctx, src, m)
	if err := ctx.Err(); err != nil {
		return nil, found, err
	}
	found = append(found, more...)
	if said != nil {
		manifest.Tools = said.tools
		found = append(found, manifest.complete(said.about)...)
	}
	preScript, more := b.preScript(src)
	found = append(found, more...)
	if preScript != nil {
		manifest.PreScript = preScriptFile
	}
	prompts, files, more := readPrompts(b.folder, manifest.Name)
	manifest.Prompts = prompts
	b.files, found = append(b.files, files...), append(found, more...)
	if err := invalid(found); err != nil {
		return nil, found, err
	}
	plugin := &Plugin{Manifest: manifest, Dir: b.dir, Adapter: append(adapter.code, defaultsScript(manifest.Tools)...), PreScript: preScript, SourceMap: adapter.sources}
	if err := plugin.seal(); err != nil {
		return nil, found, err
	}
	return plugin, found, nil
}

// preScript bundles the plugin's pre-script; nil when it has none.
func (b *Builder) preScript(src *source) ([]byte, []Diagnostic) {
	entry := src.Plugin.PreScript
	if entry == "" {
		return nil, nil
	}
	code, files, found := buildPreScript(b.folder, entry)
	b.files = slices.Compact(slices.Sorted(slices.Values(append(b.files, files...))))
	return code, found
}

// complete fills in what package.json left out and the plugin's code says.
func (m *Manifest) complete(said *described) []Diagnostic {
	var found []Diagnostic
	about := said.About
	if m.Description == "" {
		m.Description = strings.TrimSpace(about.Description)
	}
	if m.Homepage == "" && isWebAddress(about.Homepage) {
		m.Homepage = about.Homepage
	}
	if len(m.ExcludePatterns) == 0 && len(about.ExcludePatterns) > 0 {
		m.ExcludePatterns = about.ExcludePatterns
		if _, err := match.NewRule(nil, about.ExcludePatterns); err != nil {
			found = append(found, Diagnostic{File: entryFile, Text: fmt.Sprintf("exclude pattern %v", err)})
		}
	}
	if len(m.ConfigSchema) == 0 && len(about.ConfigSchema) > 0 {
		m.ConfigSchema = about.ConfigSchema
		for _, problem := range checkSettings(about.ConfigSchema) {
			found = append(found, Diagnostic{File: entryFile, Text: problem})
		}
	}
	return found
}

// both bundles for the page while the schemas are read.
func (b *Builder) both(ctx context.Context, src *source, m *module) (adapter bundled, said *remembered, found []Diagnostic) {
	var wait sync.WaitGroup
	var pageFound []Diagnostic
	wait.Go(func() { adapter, pageFound = b.page.build(m) })
	said, found = b.describe(ctx, src, m)
	wait.Wait()
	return adapter, said, append(found, dropKnown(pageFound, found)...)
}

// dropKnown leaves out what the other side said already: a package that does not bundle fails on both.
func dropKnown(found, known []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(found, func(d Diagnostic) bool {
		ours := strings.HasPrefix(d.File, pageEntryFile) // it repeats in the bundler's words what reading says in ours
		return ours && len(known) > 0 || slices.ContainsFunc(known, func(k Diagnostic) bool { return k.Text == d.Text })
	})
}

func (s *source) manifest() Manifest {
	p := s.Plugin
	return Manifest{
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

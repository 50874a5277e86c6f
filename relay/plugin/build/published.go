package build

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/plugin"
)

// A package that was published for OpenTabs has no sources: dist/tools.json describes its tools, and
// dist/adapter.iife.js runs in the page. The adapter is taken as it is, inside of ours; nothing of it runs for that.

const (
	publishedTools     = "dist/tools.json"
	publishedAdapter   = "dist/adapter.iife.js"
	publishedPreScript = "dist/pre-script.iife.js"

	publishedPath = sdkPath + "/published"
)

// IsPublished reports whether a folder holds a package as it was published for OpenTabs.
func IsPublished(dir string) bool {
	for _, name := range []string{publishedTools, publishedAdapter} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// publishedTool is a tool in dist/tools.json.
type publishedTool struct {
	Name         string             `json:"name"`
	DisplayName  string             `json:"displayName"`
	Description  string             `json:"description"`
	Summary      string             `json:"summary"`
	InputSchema  json.RawMessage    `json:"input_schema"`
	OutputSchema json.RawMessage    `json:"output_schema"`
	Annotations  plugin.Annotations `json:"annotations"`
}

// readPublished reads dist/tools.json. In older packages it is a list of tools.
func readPublished(f *folder) (tools []*rawTool, settings json.RawMessage, err error) {
	raw, err := f.read(publishedTools)
	if err != nil {
		return nil, nil, err
	}
	var described struct {
		ConfigSchema json.RawMessage `json:"configSchema"`
		Tools        []publishedTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &described); err != nil {
		if json.Unmarshal(raw, &described.Tools) != nil {
			return nil, nil, err
		}
	}
	tools = []*rawTool{}
	for _, t := range described.Tools {
		one := &rawTool{Tool: plugin.Tool{Name: t.Name, DisplayName: t.DisplayName, Description: t.Description,
			InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: t.Annotations}}
		one.Description = cmp.Or(one.Description, t.Summary)
		one.At.File = publishedTools
		tools = append(tools, one)
	}
	return tools, described.ConfigSchema, nil
}

// Published makes a plugin of a package that was published for OpenTabs, and writes it beside what is there.
func Published(ctx context.Context, dir string) (*plugin.Plugin, []Diagnostic, error) {
	b, err := NewBuilder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	_ = b.folder.open() // without a folder there is no package.json, which is reported
	defer b.folder.close()
	p, found, err := b.buildPublished(ctx)
	if err != nil {
		return nil, found, err
	}
	return p, found, writeOutput(filepath.Join(b.dir, "dist"), p)
}

func (b *Builder) buildPublished(ctx context.Context) (*plugin.Plugin, []Diagnostic, error) {
	src, found := readPackage(b.folder, packageUse{published: true})
	if src == nil {
		return nil, found, invalid(found)
	}
	tools, settings, err := readPublished(b.folder)
	if err != nil {
		found = append(found, faultf(publishedTools, "cannot be read: %v", err)...)
		return nil, found, invalid(found)
	}
	manifest := src.manifest()
	checked, more := checkTools(src, tools)
	manifest.Tools, found = checked, append(found, more...)
	info := &pluginInfo{}
	info.About.ConfigSchema = settings
	found = append(found, fillFrom(&manifest, info)...)
	adapter, more := b.publishedAdapter(src.name)
	found = append(found, more...)
	preScript, err := publishedPreScriptOf(b.folder)
	if err != nil {
		found = append(found, faultf(publishedPreScript, "cannot be read: %v", err)...)
	}
	if preScript != nil {
		manifest.PreScript = plugin.PreScriptFile
	}
	if err := errors.Join(ctx.Err(), invalid(found)); err != nil {
		return nil, found, err
	}
	p := &plugin.Plugin{Manifest: manifest, Dir: b.dir, PreScript: preScript,
		Adapter: append(adapter, defaultsScript(manifest.Tools)...)}
	return p, found, p.Seal()
}

// publishedAdapter bundles the adapter with the module that runs it.
func (b *Builder) publishedAdapter(name string) ([]byte, []Diagnostic) {
	raw, err := b.folder.read(publishedAdapter)
	if err != nil {
		return nil, faultf(publishedAdapter, "cannot be read: %v", err)
	}
	b.page.code = fmt.Sprintf("import { adopt } from %q;\nexport default adopt(%q, (tabrelayPage) => {\n%s\n});\n",
		publishedPath, name, apart(raw))
	b.page.zod = false
	result := b.page.lean.Rebuild()
	if len(result.Errors) > 0 {
		found := diagnose(result.Errors, false)
		for i := range found {
			found[i].File, found[i].Line = publishedAdapter, max(found[i].Line-2, 0) // of the lines before it
		}
		return nil, found
	}
	return scriptOf(result).code, nil
}

// preScriptPage is what a published pre-script takes for the global: what it keeps goes to our pre-script.
const preScriptPage = `(() => {
  const { set } = tabrelayPreScript.context;
  const bucket = (kept) => new Proxy(kept, { set(to, key, value) { to[key] = value; set(key, value); return true; } });
  const buckets = new Proxy({}, {
    get(to, plugin) { return to[plugin] ??= bucket({}); },
    set(to, plugin, kept) { to[plugin] = bucket(kept); return true; },
  });
  return { __openTabs: { preScript: buckets } };
})()`

func publishedPreScriptOf(f *folder) ([]byte, error) {
	raw, err := f.read(publishedPreScript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "((tabrelayPage) => {\n%s\n})(%s);\n", apart(raw), preScriptPage), nil
}

var (
	// sharedName finds `globalThis.__openTabs` and its other spellings; the groups are what stands before and after the
	// global's name.
	sharedName = lazyregexp.New(
		`(^|[^\w$.])(?:globalThis|window|self)` +
			`(\s*\)?\s*(?:\??\.\s*__openTabs\b|(?:\?\.)?\[\s*["']__openTabs["']\s*\]))`)
	mapReference = lazyregexp.New(`(?m)^//# sourceMappingURL=.*$`)
)

// apart makes a published script use an object of its own in place of a member of the page's global.
func apart(script []byte) []byte {
	script = mapReference.ReplaceAll(script, nil)
	return sharedName.ReplaceAll(script, []byte("${1}tabrelayPage${2}"))
}

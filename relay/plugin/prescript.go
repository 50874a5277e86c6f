package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// A pre-script runs at document_start, before any script of the page. It is a bundle of its own, which shares nothing
// with the adapter but the values it keeps.

const preScriptFile = "pre-script.js"

// checkPreScript looks whether the pre-script of package.json can be one.
func (c *packageCheck) checkPreScript() {
	p, field := &c.source.Plugin, "/"+c.key+"/preScript"
	if p.PreScript == "" {
		return
	}
	if p.World != Main {
		c.add(field, `"preScript" runs in the page's own world; it needs "world": "main"`)
	}
	if !filepath.IsLocal(filepath.FromSlash(p.PreScript)) {
		c.add(field, `"preScript" %q is not a file of the plugin; write it as "src/pre-script.ts"`, p.PreScript)
		p.PreScript = ""
		return
	}
	switch at, err := c.folder.file(path.Clean(p.PreScript)); {
	case errors.Is(err, errLeadsOut):
		c.add(field, `"preScript" %q %v`, p.PreScript, err)
		p.PreScript = ""
	case err != nil || at == "":
		c.add(field, `"preScript" names %s, which is missing; it calls definePreScript from %q`, p.PreScript, sdkPath+"/pre-script")
		p.PreScript = ""
	}
}

// buildPreScript bundles it, together with what it imports.
func buildPreScript(f *folder, entry string) ([]byte, []string, []Diagnostic) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     f.dir,
		EntryPoints:       []string{path.Clean(entry)},
		TsconfigRaw:       f.configOf(path.Dir(path.Clean(entry))).raw(),
		Outfile:           preScriptFile,
		Bundle:            true,
		Format:            api.FormatIIFE,
		Platform:          api.PlatformBrowser,
		Engines:           chrome,
		TreeShaking:       api.TreeShakingTrue,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		Plugins:           []api.Plugin{serveSDK(), refuseNode(), serveEmpty(), f.confine()},
	})
	found := append(diagnose(result.Errors, false), diagnose(result.Warnings, true)...)
	if len(result.Errors) > 0 {
		return nil, nil, found
	}
	var m module
	if err := m.readMetafile(result.Metafile); err != nil {
		return nil, nil, append(found, Diagnostic{File: entry, Text: err.Error()})
	}
	return finish(result).code, m.files, found
}

// ComposePreScript returns the file that runs a plugin's pre-script, and keeps its values where the adapter's file, the
// next to run, finds and removes them. It keeps them in a plain object: no function the page could replace sees one.
func ComposePreScript(p Plugin) []byte {
	// The same name as in extension/src/page/pre-script.ts.
	name, _ := json.Marshal("tabrelayPreScript:" + p.Manifest.Name + ":" + p.Hash) // strings cannot fail
	var out bytes.Buffer
	fmt.Fprintf(&out, `(()=>{const kept={__proto__:null},{debug,info,warn,error}=console,tabrelayPreScript={context:{set(key,value){kept[key]=value},log:{debug,info,warn,error}}};`+
		`Object.defineProperty(globalThis,%s,{configurable:true,value:key=>kept[key]});`+"\n", name)
	out.Write(p.PreScript)
	out.WriteString("})();\n")
	return out.Bytes()
}

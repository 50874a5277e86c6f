package build

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tabrelay/relay/road/plugin"
)

const secret = "TOP-5ECRET"

// ways are files and links of a plugin that reach for a file outside of its folder, which is DIR/plugin. Links are
// written as "link -> target".
var ways = map[string]string{
	"relative":           "-- src/index.ts --\nimport s from '../../secret.json';\nUSE",
	"without extension":  "-- src/index.ts --\nimport s from '../../secret';\nUSE",
	"as a folder":        "-- src/index.ts --\nimport s from '../../outside';\nUSE",
	"absolute":           "-- src/index.ts --\nimport s from 'DIR/secret.json';\nUSE",
	"file address":       "-- src/index.ts --\nimport s from 'file://DIR/secret.json';\nUSE",
	"as text":            "-- src/index.ts --\nimport s from '../../secret.json' with { type: 'text' };\nUSE",
	"as bytes":           "-- src/index.ts --\nimport s from '../../secret.txt' with { type: 'bytes' };\nUSE",
	"absolute as text":   "-- src/index.ts --\nimport s from '/etc/hostname' with { type: 'text' };\nUSE",
	"up from modules":    "-- src/index.ts --\nimport s from 'zod/../../../secret.json';\nUSE",
	"require":            "-- src/index.ts --\nconst s = require('../../secret.json');\nUSE",
	"dynamic import":     "-- src/index.ts --\nconst s = import('../../secret.json');\nUSE",
	"pattern":            "-- src/index.ts --\nconst s = (n: string) => import(`../../${n}.json`);\nUSE",
	"pattern in require": "-- src/index.ts --\nconst s = (n: string) => require('../../' + n + '.json');\nUSE",
	"data address": "-- src/index.ts --\nimport s from " +
		"'data:text/javascript,export{default}from\"DIR/secret.json\"';\nUSE",
	"data, relative": "-- src/index.ts --\nimport s from " +
		"'data:text/javascript,export{default}from\"../secret.json\"';\nUSE",
	"reference": "-- src/index.ts --\n/// <reference path=\"../../secret.ts\" />\nexport * from " +
		"'../../secret.ts';\nconst s = 1;\nUSE",
	"style sheet": "-- src/index.ts --\nimport s from './page.css';\nUSE\n-- src/page.css --\n@import " +
		"'../../secret.css';\n",
	"page": "-- src/index.ts --\nimport s from '../../outside/page.html';\nUSE",
	"link to a file": "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- links --\nsrc/here.json -> " +
		"../../secret.json",
	"absolute link": "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- links --\nsrc/here.json -> " +
		"DIR/secret.json",
	"link to a folder": "-- src/index.ts --\nimport s from './here/secret.json';\nUSE\n-- links --\nsrc/here -> " +
		"../..",
	"link behind a link": "-- src/index.ts --\nimport s from './a.json';\nUSE\n-- links --\nsrc/a.json -> b.json\n" +
		"src/b.json -> ../c.json\nc.json -> ../secret.json",
	"link to a device": "-- src/index.ts --\nimport s from './a.txt';\nUSE\n-- links --\nsrc/a.txt -> /dev/zero",
	"package link": "-- src/index.ts --\nimport s from 'far';\nUSE\n-- links --\nnode_modules/far -> " +
		"../../outside",
	"package link, part": "-- src/index.ts --\nimport s from 'far/secret.json';\nUSE\n-- links --\nnode_modules/far " +
		"-> ../..",
	"modules link":  "-- src/index.ts --\nimport s from 'outside';\nUSE\n-- links --\nnode_modules -> ..",
	"modules above": "-- src/index.ts --\nimport s from 'above';\nUSE",
	"main leads out": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"main\": \"../../../secret.json\"}",
	"module leads out": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"module\": \"../../../secret.json\"}",
	"browser leads out": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"browser\": \"../../../secret.json\"}",
	"browser map": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"main\": \"./a.js\", \"browser\": {\"./a.js\": \"./../../../secret.json\"}}\n-- node_modules/p/a.js --\n" +
		"export default 1",
	"own browser map": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- package.json --\n{\"name\": " +
		"\"tabrelay-plugin-way\", \"browser\": {\"p\": \"./../secret.json\"}, \"tabrelay\": {\"displayName\": " +
		"\"Way\", \"urlPatterns\": [\"https://way.example/*\"]}}",
	"exports": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"exports\": \"./../../../secret.json\"}",
	"exports, conditions": "-- src/index.ts --\nimport s from 'p/x';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"exports\": {\"./*\": {\"import\": [\"../../../secret.json\"]}}}",
	"imports": "-- src/index.ts --\nimport s from '#s';\nUSE\n-- package.json --\n{\"name\": " +
		"\"tabrelay-plugin-way\", \"imports\": {\"#s\": \"./../secret.json\"}, \"tabrelay\": {\"displayName\": " +
		"\"Way\", \"urlPatterns\": [\"https://way.example/*\"]}}",
	"a package's import": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/index.js --\nexport { " +
		"default } from '../../../secret.json'",
	"tsconfig paths": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"paths\": {\"@far\": [\"../secret.json\"]}}}",
	"tsconfig absolute": "-- src/index.ts --\nimport s from '@far/secret.json';\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"paths\": {\"@far/*\": [\"DIR/*\"]}}}",
	"tsconfig baseUrl": "-- src/index.ts --\nimport s from 'secret.json';\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"baseUrl\": \"..\"}}",
	"tsconfig extends": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- tsconfig.json --\n{\"extends\": " +
		"\"../outside/tsconfig.json\"}",
	"tsconfig above": "-- src/index.ts --\nimport s from '@above';\nUSE",
	"tsconfig link": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- links --\ntsconfig.json -> " +
		"../outside/tsconfig.json",
	"Yarn's map": "-- src/index.ts --\nimport s from 'far';\nUSE\n-- .pnp.data.json --\n" +
		"{\"packageRegistryData\": [[null, [[null, {\"packageLocation\": \"./\", \"packageDependencies\": [[\"far\", " +
		"\"npm:1\"]]}]]], [\"far\", [[\"npm:1\", {\"packageLocation\": \"../outside/\", \"packageDependencies\": " +
		"[]}]]]]}",
	"entry":         "-- links --\nsrc/index.ts -> ../../secret.ts",
	"source folder": "-- links --\nsrc -> ../outside",
	"package.json":  "-- src/index.ts --\nconst s = 1;\nUSE\n-- links --\npackage.json -> ../secret.json",
	"pre-script": "-- src/index.ts --\nconst s = 1;\nUSE\n-- package.json --\n{\"name\": " +
		"\"tabrelay-plugin-way\", \"tabrelay\": {\"displayName\": \"Way\", \"world\": \"main\", \"preScript\": " +
		"\"src/early.ts\", \"urlPatterns\": [\"https://way.example/*\"]}}\n-- links --\nsrc/early.ts -> " +
		"../../secret.ts",
	"pre-script's import": "-- src/index.ts --\nconst s = 1;\nUSE\n-- package.json --\n{\"name\": " +
		"\"tabrelay-plugin-way\", \"tabrelay\": {\"displayName\": \"Way\", \"world\": \"main\", \"preScript\": " +
		"\"src/early.ts\", \"urlPatterns\": [\"https://way.example/*\"]}}\n-- src/early.ts --\nimport s from " +
		"'../../secret.json'; console.log(s);",
	"recipe":       "-- src/index.ts --\nconst s = 1;\nUSE\n-- links --\nprompts/read.md -> ../../secret.md",
	"recipes":      "-- src/index.ts --\nconst s = 1;\nUSE\n-- links --\nprompts -> ../outside",
	"source map":   "-- src/index.ts --\nconst s = 1;\nUSE\n//# sourceMappingURL=../../secret.map\n",
	"absolute map": "-- src/index.ts --\nconst s = 1;\nUSE\n//# sourceMappingURL=file://DIR/secret.map\n",
	"a map's sources": "-- src/index.ts --\nconst s = 1;\nUSE\n//# " +
		"sourceMappingURL=data:application/json,%7B%22version%22:3,%22sources%22:[%22file://DIR/secret.json%22]," +
		"%22mappings%22:%22AAAA%22,%22names%22:[]%7D\n",
}

// harmless are the ways whose builds succeed, because what leads out is not needed.
var harmless = map[string]bool{
	"source map": true, "absolute map": true, "a map's sources": true, "a package's map": true, "address": true,
	"types only": true, "browser map above": true, "a linked package.json": true,
}

// outside lays out DIR: the plugin's folder and what is around it.
func outside(t *testing.T, way string) (dir string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"secret.json": `{"name": "` + secret + `"}`, "secret.txt": secret, "secret.css": ".a::before { content: '" +
			secret + "' }", "secret.md": secret,
		"secret.ts": "export default '" + secret + "'; console.log('" + secret + "');",
		"secret.map": `{"version":3,"sources":["a"],"sourcesContent":["` + secret +
			`"],"mappings":"AAAA","names":[]}`,
		"package.json":           `{"browser": {"p": false}, "imports": {"#above": "./secret.json"}}`,
		"outside/package.json":   `{"name": "` + secret + `", "main": "a.js"}`,
		"outside/jsx-runtime.js": "export const jsx = () => '" + secret + "';",
		"outside/index.ts":       "export default '" + secret + "';",
		"outside/index.js":       "export default '" + secret + "';",
		"outside/page.html":      secret,
		"outside/read.md":        secret,
		"outside/tsconfig.json": `{"compilerOptions": {"paths": {"@far": ["../secret.json"]}, ` +
			`"jsxFactory": "` + secret + `"}}`,
		"tsconfig.json":                   `{"compilerOptions": {"paths": {"@above": ["./secret.json"]}}}`,
		"node_modules/above/package.json": `{"main": "index.js"}`,
		"node_modules/above/index.js":     "export default '" + secret + "';",
		"plugin/package.json": `{"name": "tabrelay-plugin-way", "tabrelay": {"displayName": "Way",` +
			` "urlPatterns": ["https://way.example/*"]}}`,
	}
	var links []string
	for _, file := range txtar.Parse([]byte(strings.ReplaceAll(way, "DIR", top))).Files {
		content := strings.ReplaceAll(string(file.Data), "USE",
			"import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';\nexport default definePlugin({ tools: "+
				"[defineTool({ name: 'read', description: 'Reads what it should not: ' + JSON.stringify(s), handle: "+
				"() => s })] });\n")
		if file.Name == "links" {
			links = strings.Split(strings.TrimSpace(content), "\n")
			continue
		}
		files["plugin/"+file.Name] = content
	}
	for name, content := range files {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		overwrite(t, file, content)
	}
	dir = filepath.Join(top, "plugin")
	for _, link := range links {
		name, target, _ := strings.Cut(link, " -> ")
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.RemoveAll(file),
			os.Symlink(target, file)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a build makes and says never holds a file that is not the plugin's.
func TestBuildReadsNothingOutside(t *testing.T) {
	host, _ := os.ReadFile("/etc/hostname") // not everywhere
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := outside(t, way)
			p, found, err := Build(t.Context(), dir, Options{})
			said := fmt.Sprint(found, err)
			var made []byte
			if p != nil {
				manifest, _ := p.Manifest.Encode()
				made = bytes.Join([][]byte{manifest, p.Adapter, p.PreScript, p.SourceMap}, nil)
				said += fmt.Sprint(Check(p))
			}
			for _, word := range []string{secret, "5ECRET", strings.TrimSpace(string(host))} {
				if word != "" && (bytes.Contains(made, []byte(word)) || strings.Contains(said, word)) {
					t.Errorf("it got out: %s\n%s", said, made)
				}
			}
			if (err == nil) != harmless[name] {
				t.Errorf("the build: %v", said)
			}
			if err == nil {
				return
			}
			if entries, _ := filepath.Glob(filepath.Join(dir, "dist", "*")); len(entries) > 0 {
				t.Errorf("a build that failed wrote %v", entries)
			}
		})
	}
}

// A text that the plugin evaluates while it is read names a file as its source map: none is read, and a plugin does not
// find out whether it is there.
func TestEvaluatedTextsReadNothing(t *testing.T) {
	for _, file := range []string{"DIR/secret.json", "DIR/secret.txt", "DIR/gone.json"} {
		for _, run := range []string{"(0, eval)", "new Function"} {
			way := "-- src/index.ts --\nlet s = 'nothing';\ntry { " + run + "('1\\n//# sourceMappingURL=" + file +
				"') } catch (e) { throw new Error('found: ' + e) }\nUSE"
			_, found, err := Build(t.Context(), outside(t, way), Options{})
			if err != nil {
				t.Errorf("%s in %s: %v %v", file, run, found, err)
			}
		}
	}
}

// Links inside the folder, and into a node_modules that is shared, are followed.
func TestLinksInsideFolderAreFollowed(t *testing.T) {
	for name, way := range map[string]string{
		"a file": "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- data.json --\n{\"a\": 1}\n-- links --\n" +
			"src/here.json -> ../data.json",
		"pnpm": "-- src/index.ts --\nimport s from 'a';\nUSE\n-- node_modules/.pnpm/a@1/node_modules/a/index.js --\n" +
			"export { default } from 'b'\n" +
			"-- node_modules/.pnpm/b@1/node_modules/b/index.js --\nexport default 'b'\n-- links --\nnode_modules/a " +
			"-> .pnpm/a@1/node_modules/a\nnode_modules/.pnpm/a@1/node_modules/b -> ../../b@1/node_modules/b",
		"shared modules": "-- src/index.ts --\nimport s from 'above';\nUSE\n-- links --\nnode_modules -> " +
			"../node_modules",
		"absolute": "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- data.json --\n{\"a\": 1}\n-- " +
			"links --\nsrc/here.json -> DIR/plugin/data.json",
		"tsconfig extend": "-- src/index.ts --\nimport s from '@data';\nUSE\n-- data.json --\n{\"a\": 1}\n-- " +
			"config/base.json --\n{\"compilerOptions\": {\"paths\": {\"@data\": [\"../data.json\"]}}}\n-- " +
			"tsconfig.json --\n{\"extends\": \"./config/base\"}",
	} {
		if _, found, err := Build(t.Context(), outside(t, way), Options{}); err != nil {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

// Build output that links to a file elsewhere is none.
func TestLoadReadsNothingOutside(t *testing.T) {
	dir := outside(t, "-- src/index.ts --\nconst s = 1;\nUSE")
	if _, _, err := Build(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{plugin.AdapterFile, plugin.ManifestFile} {
		file := filepath.Join(dir, "dist", name)
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(file), os.Symlink("../../secret.json", file)); err != nil {
			t.Fatal(err)
		}
		if p, err := Load(dir); err == nil || strings.Contains(err.Error(), "5ECRET") {
			t.Errorf("Load with a link at %s: %v, %v", name, p, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		overwrite(t, file, string(was))
	}
}

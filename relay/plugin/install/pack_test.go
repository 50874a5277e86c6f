package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"
)

// file is one entry of a tarball.
type file struct {
	name, content string
	kind          byte // tar.TypeReg when 0
	link          string
}

// pack makes a tarball.
func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		if f.kind == 0 {
			f.kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: f.name, Typeflag: f.kind, Linkname: f.link,
			Size: int64(len(f.content)), Mode: 0o777}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const teaManifest = `{
  "name": "tabrelay-plugin-tea", "version": "VERSION", "type": "module",
  "tabrelay": {"displayName": "Tea", "urlPatterns": ["https://tea.example/*"]}
}`

const teaSource = `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
export default definePlugin({ tools: [defineTool({ name: 'TOOL', description: 'Lists teas.', handle: () => 1 })] });
`

// tea is a tarball of a plugin with one tool.
func tea(t testing.TB, version, tool string) []byte {
	t.Helper()
	return pack(t,
		file{name: "package/package.json", content: string(bytes.ReplaceAll([]byte(teaManifest), []byte("VERSION"),
			[]byte(version)))},
		file{name: "package/src/index.ts", content: string(bytes.ReplaceAll([]byte(teaSource), []byte("TOOL"),
			[]byte(tool)))},
	)
}

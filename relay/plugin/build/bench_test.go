package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// large is a plugin of 29 tools with Zod schemas, each in a file of its own.
func large(number int) *txtar.Archive {
	archive := &txtar.Archive{}
	add := func(name, content string) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(content)})
	}
	add("package.json", `{ "name": "tabrelay-plugin-large", "version": "0.0.1", "tabrelay": { "displayName": "Large",`+
		` "urlPatterns": ["https://large.example/*"] } }`)
	var imports, names bytes.Buffer
	for i := range number {
		add(fmt.Sprintf("src/tool-%d.ts", i), largeTool(i, ""))
		fmt.Fprintf(&imports, "import { tool%d } from './tool-%d.ts';\n", i, i)
		fmt.Fprintf(&names, "tool%d, ", i)
	}
	add("src/index.ts", "import { definePlugin } from '@tabrelay/plugin-sdk';\n"+imports.String()+
		"export default definePlugin({ tools: ["+names.String()+"] });\n")
	return archive
}

func largeTool(i int, extra string) string {
	return fmt.Sprintf(`import { defineTool, fetchJSON, ToolError } from '@tabrelay/plugin-sdk';
import { z } from 'zod';

const person = z.object({ id: z.string(), name: z.string().describe('As shown on the site.'), active: z.boolean() });

export const tool%[1]d = defineTool({
  name: 'tool_%[1]d',
  displayName: 'Tool %[1]d',
  description: 'Looks for people whose name contains a word, and answers them in pages of at most a hundred. %[2]s',
  annotations: { readOnlyHint: true },
  input: z.object({
    query: z.string().min(1).max(200).describe('What to look for.'),
    limit: z.number().int().min(1).max(100).default(20).describe('How many.'),
    cursor: z.string().optional().describe('From the answer before.'),
    state: z.enum(['active', 'away', 'gone']).optional(),
    since: z.iso.datetime().optional(),
    labels: z.array(z.string()).max(10).optional(),
  }),
  output: z.object({ people: z.array(person), next: z.string().optional() }),
  async handle({ query, limit, cursor, state }, { signal }) {
    const answer = await fetchJSON(%[3]s, { signal });
    if (!Array.isArray(answer)) throw ToolError.notFound('Nobody is called ' + query);
    return { people: answer.slice(0, limit).filter((one) => state === undefined || one.state === state), next: cursor };
  },
});
`, i, extra, "`/api/people/"+fmt.Sprint(i)+"?q=${encodeURIComponent(query)}`")
}

func BenchmarkBuildCold(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // as the command has it
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	dir := unpack(b, large(29))
	for b.Loop() {
		p, _, err := Build(b.Context(), dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(p.Adapter)), "adapter-bytes")
	}
}

func BenchmarkBuildChangedHandler(b *testing.B) {
	benchmarkChange(b, func(i int) string {
		return strings.Replace(largeTool(7, ""), "async handle", fmt.Sprintf("async handle/* %d */", i), 1) +
			fmt.Sprintf("export const version = () => %d;\n", i)
	})
}

func BenchmarkBuildChangedSchema(b *testing.B) {
	benchmarkChange(b, func(i int) string { return largeTool(7, fmt.Sprint("Version ", i)) })
}

func benchmarkChange(b *testing.B, source func(int) string) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
	dir := unpack(b, large(29))
	builder, err := NewBuilder(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer builder.Close()
	if _, _, err := builder.Build(b.Context(), Options{}); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		file := filepath.Join(dir, "src", "tool-7.ts")
		if err := os.WriteFile(file, []byte(source(i)), 0o644); err != nil {
			b.Fatal(err)
		}
		if _, _, err := builder.Build(b.Context(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

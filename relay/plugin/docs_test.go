package plugin

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var codeBlock = regexp.MustCompile("(?s)```ts\n(.*?)```")

// What the guides show is what builds.
func TestDocumentedPlugins(t *testing.T) {
	for _, page := range []string{"plugins.md", "opentabs.md", "guides/first-plugin.md", "guides/errors.md", "guides/sign-in.md", "guides/testing.md", "guides/worlds.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		built := 0
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(block[1], "'zod'") {
				continue // e2e/specs/first-plugin.spec.ts follows that page to the letter
			}
			files := []txtar.File{{Name: "package.json", Data: []byte(smallPackage)}}
			switch source := block[1]; {
			case strings.Contains(source, "export default"):
				files = append(files, txtar.File{Name: "src/index.ts", Data: []byte(source)})
			case strings.Contains(source, "definePreScript"):
				files = append(files, txtar.File{Name: "src/index.ts", Data: []byte("import './early.ts';\nexport default { tools: [{ name: 'x', description: 'x', handle() {} }] };\n")},
					txtar.File{Name: "src/early.ts", Data: []byte(source)})
			default:
				continue
			}
			built++
			if _, _, err := Build(t.Context(), unpack(t, &txtar.Archive{Files: files}), Options{Out: "-"}); err != nil {
				t.Errorf("docs/%s: %v\n%s", page, err, block[1])
			}
		}
		if built == 0 {
			t.Errorf("docs/%s shows no plugin", page)
		}
	}
}

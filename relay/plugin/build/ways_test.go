package build

// moreWays are ways that a stranger tried: each names the file by what a resolver looks at besides the import itself.
var moreWays = map[string]string{
	// Links that only a search finds: the import names neither them nor where they lead.
	"link with an extension": "-- src/index.ts --\nimport s from './here';\nUSE\n-- links --\nsrc/here.json -> " +
		"../../secret.json",
	"link that comes first": "-- src/index.ts --\nimport s from './here';\nUSE\n-- src/here.ts --\nexport default " +
		"1\n-- links --\nsrc/here.tsx -> ../../secret.ts",
	"link to an index": "-- src/index.ts --\nimport s from './here';\nUSE\n-- links --\nsrc/here/index.json -> " +
		"../../../secret.json",
	"a package's index": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/a.js --\nexport default 1\n" +
		"-- links --\nnode_modules/p/index.js -> ../../../outside/index.js",
	"a package's main": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"main\": \"lib\"}\n-- node_modules/p/index.js --\nexport default 1\n-- links --\nnode_modules/p/lib.js -> " +
		"../../../outside/index.js",
	"a package's modules": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/index.js --\nexport { " +
		"default } from 'outside'\n-- links --\nnode_modules/p/node_modules -> ../../..",
	"scope": "-- src/index.ts --\nimport s from '@far/outside';\nUSE\n-- links --\nnode_modules/@far -> ../..",
	"own browser map to a link": "-- src/index.ts --\nimport s from './a.js';\nUSE\n-- src/a.js --\nexport default " +
		"1\n-- package.json --\n{\"name\": \"tabrelay-plugin-way\", \"browser\": {\"./src/a.js\": \"./src/b.js\"}, " +
		"\"tabrelay\": {\"displayName\": \"Way\", \"urlPatterns\": [\"https://way.example/*\"]}}\n-- links --\n" +
		"src/b.js -> ../../outside/index.js",
	"link to itself": "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- links --\nsrc/here.json -> here.json",

	// Names that mean a file outside only to some readers.
	"through proc": "-- src/index.ts --\nimport s from '/proc/self/rootDIR/secret.json';\nUSE",
	"environment":  "-- src/index.ts --\nimport s from '/proc/self/environ' with { type: 'text' };\nUSE",
	"other case":   "-- src/index.ts --\nimport s from '../../SECRET.JSON';\nUSE",
	"backslashes":  "-- src/index.ts --\nimport s from '..\\\\..\\\\secret.json';\nUSE",
	"percent":      "-- src/index.ts --\nimport s from './..%2f..%2fsecret.json';\nUSE",
	"query":        "-- src/index.ts --\nimport s from '../../secret.json?x';\nUSE",
	"up and down":  "-- src/index.ts --\nimport s from './none/../../../secret.json';\nUSE",

	// What package.json says.
	"exports pattern": "-- src/index.ts --\nimport s from 'p/../../../secret.json';\nUSE\n" +
		"-- node_modules/p/package.json --\n{\"exports\": {\"./*\": \"./*\"}}",
	"exports list": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/package.json --\n" +
		"{\"exports\": [\"./../../../secret.json\", \"./a.js\"]}\n-- node_modules/p/a.js --\nexport default 1",
	"imports pattern": "-- src/index.ts --\nimport s from '#x/../../secret.json';\nUSE\n-- package.json --\n" +
		"{\"name\": \"tabrelay-plugin-way\", \"imports\": {\"#x/*\": \"./src/*\"}, \"tabrelay\": {\"displayName\": " +
		"\"Way\", \"urlPatterns\": [\"https://way.example/*\"]}}",
	"imports above": "-- src/index.ts --\nimport s from '#above';\nUSE",
	"own name": "-- src/index.ts --\nimport s from 'tabrelay-plugin-way/../secret.json';\nUSE\n-- package.json --\n" +
		"{\"name\": \"tabrelay-plugin-way\", \"exports\": {\"./*\": \"./*\"}, \"tabrelay\": {\"displayName\": " +
		"\"Way\", \"urlPatterns\": [\"https://way.example/*\"]}}",
	"a linked package.json": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/a.js --\n" +
		"export default 'a'\n-- node_modules/p/index.js --\nexport default 'index'\n-- links --\n" +
		"node_modules/p/package.json -> ../../../outside/package.json",
	"browser map above": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/index.js --\nexport default 1",

	// What tsconfig.json says.
	"tsconfig extends a package": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- tsconfig.json --\n{" +
		"\"extends\": \"far/tsconfig.json\"}\n-- links --\nnode_modules/far -> ../../outside",
	"tsconfig extends a list": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- a.json --\n{}\n" +
		"-- tsconfig.json --\n{\"extends\": [\"./a.json\", \"../outside/tsconfig.json\"]}",
	"tsconfig references": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- tsconfig.json --\n{\"references\": " +
		"[{\"path\": \"../outside\"}]}",
	"tsconfig paths to a link": "-- src/index.ts --\nimport s from '@far';\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"paths\": {\"@far\": [\"./up/secret.json\"]}}}\n-- links --\nup -> ..",
	"tsconfig rootDirs": "-- src/index.ts --\nimport s from './secret.json';\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"rootDirs\": [\"src\", \"..\"]}}",
	"tsconfig jsxImportSource": "-- src/index.tsx --\nconst s = <b />;\nUSE\n-- tsconfig.json --\n" +
		"{\"compilerOptions\": {\"jsx\": \"react-jsx\", \"jsxImportSource\": \"../../outside\"}}",

	// Other forms of an import, and of what a file is taken for.
	"as a file":  "-- src/index.ts --\nimport s from '../../secret.txt' with { type: 'file' };\nUSE",
	"as a copy":  "-- src/index.ts --\nimport s from '../../secret.txt' with { type: 'copy' };\nUSE",
	"as an URL":  "-- src/index.ts --\nimport s from '../../secret.txt' with { type: 'dataurl' };\nUSE",
	"address":    "-- src/index.ts --\nconst s = new URL('../../secret.txt', import.meta.url).pathname.length;\nUSE",
	"attributes": "-- src/index.ts --\nconst s = import('../../secret.txt', { with: { type: 'text' } });\nUSE",
	"located":    "-- src/index.ts --\nconst s = require.resolve('../../secret.json');\nUSE",
	"handled":    "-- src/index.ts --\nlet s; try { s = require('../../secret.json') } catch { s = 1 }\nUSE",
	"types only": "-- src/index.ts --\nimport type S from '../../secret.ts';\nconst s: S | number = 1;\nUSE",
	"CSS url": "-- src/index.ts --\nimport s from './page.css';\nUSE\n-- src/page.css --\nb { background: " +
		"url(../../secret.txt) }",
	"a package's map": "-- src/index.ts --\nimport s from 'p';\nUSE\n-- node_modules/p/index.js --\nexport default " +
		"1;\n//# sourceMappingURL=../../../secret.map\n",
	"pre-script above": "-- src/index.ts --\nconst s = 1;\nUSE\n-- package.json --\n{\"name\": " +
		"\"tabrelay-plugin-way\", \"tabrelay\": {\"displayName\": \"Way\", \"world\": \"main\", \"preScript\": " +
		"\"../secret.ts\", \"urlPatterns\": [\"https://way.example/*\"]}}",
	"absolute recipe": "-- src/index.ts --\nconst s = 1;\nUSE\n-- links --\nprompts/read.md -> DIR/secret.md",
}

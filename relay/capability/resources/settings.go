package resources

import (
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/state/config"
)

// Settings are what agents may read besides what the relay keeps and what is open in the browsers.
type Settings struct {
	Roots     []string // absolute folders
	FileBytes int
	HTTPS     Outside
	Git       Outside
	Providers map[string]Program // by URI scheme
}

// Outside is what may be fetched from the network.
type Outside struct {
	Hosts    []string // host or host:port; none: nothing
	Timeout  time.Duration
	MaxBytes int
}

// Program is a person's own provider of resources, as they write it. What is nil has the default.
type Program struct {
	Command   []string `json:"command"`
	TimeoutMs *int64   `json:"timeoutMs"`
	MaxBytes  *int64   `json:"maxBytes"`
}

var section = &config.Section[Settings]{
	Capability: "resources",
	About:      "Whether agents can read resources by URI: open tabs, results that are kept, files.",
	Settings: []config.Setting[Settings]{
		config.Row("resources.file.roots", config.List(config.AbsolutePath), []string{},
			func(s *Settings) any { return &s.Roots },
			"Folders whose files agents may read, with everything below them but symbolic links."),
		config.Row("resources.file.maxBytes", config.Size(1*config.KiB, 20*config.MiB), 10*config.MiB,
			func(s *Settings) any { return &s.FileBytes }, "Size of the largest file that is read."),
		config.Row("resources.https.hosts", config.List(config.PublicHost), []string{},
			func(s *Settings) any { return &s.HTTPS.Hosts },
			"Hosts that documents may be fetched from. Empty switches that off. Addresses that are not public are "+
				"never dialled."),
		config.Row("resources.https.timeoutMs", config.Millis(100, time.Minute), 15_000,
			func(s *Settings) any { return &s.HTTPS.Timeout }, "How long fetching a document may take."),
		config.Row("resources.https.maxBytes", config.Size(1*config.KiB, 20*config.MiB), 10*config.MiB,
			func(s *Settings) any { return &s.HTTPS.MaxBytes }, "Size of the largest document that is fetched."),
		config.Row("resources.git.hosts", config.List(config.PublicHost), []string{},
			func(s *Settings) any { return &s.Git.Hosts },
			"Hosts that files of git repositories may be fetched from, with the program git. Empty switches that off."),
		config.Row("resources.git.timeoutMs", config.Millis(100, time.Minute), 30_000,
			func(s *Settings) any { return &s.Git.Timeout }, "How long reading a file of a repository may take."),
		config.Row("resources.git.maxBytes", config.Size(1*config.MiB, 500*config.MiB), 50*config.MiB,
			func(s *Settings) any { return &s.Git.MaxBytes },
			"How much may be transferred for one file of a repository."),
		config.Row("resources.providers", programs, map[string]any{}, func(s *Settings) any { return &s.Providers },
			"Programs that serve further URI schemes, by scheme: {\"command\": [\"program\", \"argument\"], "+
				"\"timeoutMs\": 15000, \"maxBytes\": 10485760}. See docs/resources.md."),
	},
	Rights: []config.Right[Settings]{
		config.Longer("fileRoots", "resources.file.roots", func(s *Settings) *[]string { return &s.Roots }),
		config.Longer("httpsHosts", "resources.https.hosts", func(s *Settings) *[]string { return &s.HTTPS.Hosts }),
		config.Longer("gitHosts", "resources.git.hosts", func(s *Settings) *[]string { return &s.Git.Hosts }),
		config.Others("providers", "resources.providers", nil,
			func(s *Settings) *map[string]Program { return &s.Providers },
			func(p Program) []string { return p.Command },
			func(command []string) string { return strings.Join(command, ", ") }),
	},
}

var isScheme = lazyregexp.New(`^[a-z][a-z0-9+.-]{0,31}$`).MatchString

// ownSchemes are served by the relay itself, whose guards nothing replaces.
var ownSchemes = []string{"tab", "console", "result", "deadletter", "events", "file", "http", "https", "git+https"}

const (
	mostProgramTime  = time.Minute
	mostProgramBytes = 20 * config.MiB
)

// programs is an object of resource providers by URI scheme.
var programs = config.KindOf(
	`an object by URI scheme (none that the relay serves itself) of {"command": ["program", "argument"], `+
		`"timeoutMs": 100 to 60000, "maxBytes": 1 to 20971520}`,
	map[string]any{
		"type": "object", "propertyNames": map[string]any{"pattern": "^[a-z][a-z0-9+.-]{0,31}$",
			"not": map[string]any{"enum": ownSchemes}},
		"additionalProperties": map[string]any{
			"type": "object", "required": []string{"command"}, "additionalProperties": false,
			"properties": map[string]any{
				"command": map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string",
					"minLength": 1}},
				"timeoutMs": map[string]any{"type": "integer", "minimum": 100,
					"maximum": mostProgramTime.Milliseconds()},
				"maxBytes": map[string]any{"type": "integer", "minimum": 1, "maximum": mostProgramBytes},
			},
		},
	},
	func(all map[string]Program) bool {
		for scheme, p := range all {
			if !isScheme(scheme) || slices.Contains(ownSchemes, scheme) || len(p.Command) == 0 ||
				slices.Contains(p.Command, "") || !within(p.TimeoutMs, 100, mostProgramTime.Milliseconds()) ||
				!within(p.MaxBytes, 1, mostProgramBytes) {
				return false
			}
		}
		return true
	})

// within reports whether a number that may be left out is within bounds.
func within(n *int64, least, most int64) bool { return n == nil || least <= *n && *n <= most }

package connect

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Client is one MCP client program: where its configuration is and how an entry looks in it.
type Client struct {
	Name    string // as in `tabrelay connect NAME`
	Title   string // as its makers write it
	Restart string // what a person does so that it reads its configuration again

	file  func(Environment) string
	skill func(Environment) string // the folder of its skills; nil: it reads none
	path  []string                 // of the object that entries are members of
	toml  bool                     // the file is TOML, not JSON
	entry func(Server) any
	parse func([]byte) Server // reads an entry back; what it does not understand stays empty
}

// File is the client's configuration file.
func (c Client) File(env Environment) string { return c.file(env) }

// Environment is where this person keeps things.
type Environment struct {
	OS      string // as runtime.GOOS
	Home    string
	Config  string // ~/.config, ~/Library/Application Support, %APPDATA%
	Getenv  func(string) string
	Present func(file string) bool
}

// Here is the environment of this process.
func Here() (Environment, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Environment{}, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Environment{}, err
	}
	return Environment{OS: runtime.GOOS, Home: home, Config: config, Getenv: os.Getenv,
		Present: func(file string) bool {
			_, err := os.Stat(file)
			return err == nil
		}}, nil
}

// Clients are the programs that can be connected, by name.
var Clients = []Client{
	{
		Name: "claude-code", Title: "Claude Code", path: []string{"mcpServers"},
		Restart: "start a new Claude Code session; /mcp shows the server",
		file: func(e Environment) string {
			if dir := e.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(e.Home, ".claude.json")
		},
		skill: func(e Environment) string {
			return filepath.Join(cmp.Or(e.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(e.Home, ".claude")), "skills")
		},
		entry: typed("stdio"), parse: parsePlain,
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", path: []string{"mcpServers"},
		Restart: "quit Claude Desktop (from its menu, not only the window) and open it again",
		file:    func(e Environment) string { return filepath.Join(e.Config, "Claude", "claude_desktop_config.json") },
		entry:   plain, parse: parsePlain,
	},
	{
		Name: "codex", Title: "Codex", path: []string{"mcp_servers"}, toml: true,
		Restart: "start a new Codex session; /mcp shows the server",
		file: func(e Environment) string {
			dir := cmp.Or(e.Getenv("CODEX_HOME"), filepath.Join(e.Home, ".codex"))
			return filepath.Join(dir, "config.toml")
		},
		skill: func(e Environment) string { return filepath.Join(e.Home, ".agents", "skills") },
		entry: codex, parse: parsePlain,
	},
	{
		Name: "cursor", Title: "Cursor", path: []string{"mcpServers"},
		Restart: "restart Cursor, or switch the server on under Settings, MCP",
		file:    func(e Environment) string { return filepath.Join(e.Home, ".cursor", "mcp.json") },
		skill:   func(e Environment) string { return filepath.Join(e.Home, ".cursor", "skills") },
		entry:   plain, parse: parsePlain,
	},
	{
		Name: "gemini", Title: "Gemini CLI", path: []string{"mcpServers"},
		Restart: "start a new Gemini CLI session; /mcp shows the server",
		file:    func(e Environment) string { return filepath.Join(e.Home, ".gemini", "settings.json") },
		skill:   func(e Environment) string { return filepath.Join(e.Home, ".gemini", "skills") },
		entry:   plain, parse: parsePlain,
	},
	{
		Name: "opencode", Title: "opencode", path: []string{"mcp"},
		Restart: "start a new opencode session",
		file: func(e Environment) string {
			dir := cmp.Or(e.Getenv("XDG_CONFIG_HOME"), filepath.Join(e.Home, ".config"))
			file := filepath.Join(dir, "opencode", "opencode.json")
			if commented := file + "c"; e.Present(commented) && !e.Present(file) {
				return commented
			}
			return file
		},
		skill: func(e Environment) string {
			dir := cmp.Or(e.Getenv("XDG_CONFIG_HOME"), filepath.Join(e.Home, ".config"))
			return filepath.Join(dir, "opencode", "skills")
		},
		entry: opencode, parse: parseOpencode,
	},
	{
		Name: "vscode", Title: "VS Code", path: []string{"servers"},
		Restart: "run “Developer: Reload Window” in VS Code, then start the server from “MCP: List Servers”",
		file:    func(e Environment) string { return filepath.Join(e.Config, "Code", "User", "mcp.json") },
		skill:   func(e Environment) string { return filepath.Join(e.Home, ".copilot", "skills") },
		entry:   typed("stdio"), parse: parsePlain,
	},
	{
		Name: "windsurf", Title: "Windsurf", path: []string{"mcpServers"},
		Restart: "press “Refresh” in Windsurf's MCP settings",
		file:    func(e Environment) string { return filepath.Join(e.Home, ".codeium", "windsurf", "mcp_config.json") },
		entry:   plain, parse: parsePlain,
	},
	{
		Name: "zed", Title: "Zed", path: []string{"context_servers"},
		Restart: "nothing: Zed reads its settings again at once",
		file: func(e Environment) string {
			switch e.OS {
			case "windows":
				return filepath.Join(e.Config, "Zed", "settings.json")
			case "darwin":
				return filepath.Join(e.Home, ".config", "zed", "settings.json")
			}
			return filepath.Join(e.Config, "zed", "settings.json")
		},
		entry: plain, parse: parsePlain,
	},
}

// Find returns the client of that name.
func Find(name string) (Client, bool) {
	i := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return Clients[i], true
}

// Names are the names of all clients.
func Names() []string {
	names := make([]string, len(Clients))
	for i, c := range Clients {
		names[i] = c.Name
	}
	return names
}

// stdio is the entry most clients agree on.
type stdio struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

func plain(s Server) any { return stdio{Command: s.Command, Args: s.args(), Env: s.env()} }

func typed(kind string) func(Server) any {
	return func(s Server) any { return stdio{Type: kind, Command: s.Command, Args: s.args(), Env: s.env()} }
}

func parsePlain(text []byte) Server {
	var e stdio
	if json.Unmarshal(text, &e) != nil {
		return Server{}
	}
	return Server{Command: e.Command, Token: e.Env["TABRELAY_TOKEN"], Home: e.Env["TABRELAY_HOME"],
		Toolset: toolsetIn(e.Args)}
}

// codexServer is Codex's entry. A person who is asked for permission takes longer than the minute it waits by itself.
type codexServer struct {
	Command     string            `toml:"command"`
	Args        []string          `toml:"args"`
	Env         map[string]string `toml:"env,inline"`
	ToolTimeout int               `toml:"tool_timeout_sec"`
}

func codex(s Server) any {
	return codexServer{Command: s.Command, Args: s.args(), Env: s.env(), ToolTimeout: 360}
}

// local is opencode's entry.
type local struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment"`
	Enabled     bool              `json:"enabled"`
}

func opencode(s Server) any {
	return local{Type: "local", Command: append([]string{s.Command}, s.args()...), Environment: s.env(), Enabled: true}
}

func parseOpencode(text []byte) Server {
	var e local
	if json.Unmarshal(text, &e) != nil || len(e.Command) == 0 {
		return Server{}
	}
	return Server{Command: e.Command[0], Token: e.Environment["TABRELAY_TOKEN"], Home: e.Environment["TABRELAY_HOME"],
		Toolset: toolsetIn(e.Command)}
}

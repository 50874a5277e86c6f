package connect

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

var server = Server{Command: "/opt/tabrelay", Token: "tabrelay_secret"}

// elsewhere is an environment below dir.
func elsewhere(dir string) Environment {
	return Environment{
		OS: "linux", Home: dir, Config: filepath.Join(dir, ".config"),
		Getenv:  func(string) string { return "" },
		Present: func(file string) bool { _, err := os.Stat(file); return err == nil },
	}
}

// Each file of testdata holds a client's file before, after connecting, and after disconnecting again without the copy
// that connecting made. With the copy it is as before. Its comment names the client.
func TestFilesAreConnectedAndDisconnected(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { checkFile(t, file) })
	}
}

func checkFile(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(archive.Comment), "\n")
	client, ok := Find(strings.TrimPrefix(name, "client "))
	if !ok {
		t.Fatalf("no client in %q", name)
	}
	env := elsewhere(t.TempDir())
	target := client.File(env)
	parts := map[string]string{}
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	before, had := parts["before"]
	if had {
		write(t, target, before)
	}
	_, connected, err := client.Entry(env)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	connectTwice(t, client, env)
	got["connected"] = text(t, target)
	if _, err := client.Disconnect(env); err != nil {
		t.Fatal(err)
	}
	if now := content(t, target); !connected && now != before {
		t.Errorf("connected and disconnected, the file became %q, want %q", now, before)
	}
	connectTwice(t, client, env)
	if err := os.Remove(target + ".before-tabrelay"); err != nil && had {
		t.Fatal(err)
	}
	if _, err := client.Disconnect(env); err != nil {
		t.Fatal(err)
	}
	got["disconnected"] = content(t, target)
	if *update {
		rewrite(t, file, archive, got)
		return
	}
	for name, text := range got {
		if diff := cmp.Diff(parts[name], text); diff != "" {
			t.Errorf("%s (-want +got; -update rewrites)\n%s", name, diff)
		}
	}
}

// connectTwice connects, and checks that doing it again changes nothing.
func connectTwice(t *testing.T, client Client, env Environment) {
	t.Helper()
	change, err := client.Connect(env, server)
	if err != nil || !change.Changed {
		t.Fatalf("connect: %+v, %v", change, err)
	}
	if got, found, err := client.Entry(env); err != nil || !found || got.Command != server.Command ||
		got.Token != server.Token {
		t.Errorf("the entry reads back as %+v, %v, %v", got, found, err)
	}
	if again, err := client.Connect(env, server); err != nil || again.Changed {
		t.Errorf("connecting again: %+v, %v", again, err)
	}
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, got map[string]string) {
	var kept []txtar.File
	for _, f := range archive.Files {
		if f.Name == "before" {
			kept = append(kept, f)
		}
	}
	for _, name := range []string{"connected", "disconnected"} {
		kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
	}
	archive.Files = kept
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenFileIsLeftAlone(t *testing.T) {
	for _, broken := range []string{`{"mcpServers": `, `{"mcpServers": []}`,
		`{"mcpServers": {"tabrelay": 1}, "mcpServers"}`, `[]`, "mcpServers: {}"} {
		env := elsewhere(t.TempDir())
		client, _ := Find("claude-code")
		write(t, client.File(env), broken)
		_, err := client.Connect(env, server)
		var refused *BrokenError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v", broken, err)
		}
		if got := text(t, client.File(env)); got != broken {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// Of every client: a file that is no file of that client stays as it is, and the refusal says what to do.
func TestBrokenFilesOfEveryClient(t *testing.T) {
	for _, client := range Clients {
		for _, broken := range []string{
			"{", "\x00\x01", client.path[0] + " = [", `{"` + client.path[0] + `": 7}`, client.path[0] + " = 7\n",
			`["` + client.path[0] + `", 1]`,
		} {
			env := elsewhere(t.TempDir())
			write(t, client.File(env), broken)
			for what, change := range map[string]func() error{
				"connect":    func() error { _, err := client.Connect(env, server); return err },
				"disconnect": func() error { _, err := client.Disconnect(env); return err },
			} {
				err := change()
				var refused *BrokenError
				valid := what == "disconnect" && err == nil // the file is in order, and there is nothing of ours in it
				if !valid && (!errors.As(err, &refused) || refused.Hint() == "") {
					t.Errorf("%s of %s with %q: %v", what, client.Name, broken, err)
				}
				if got := text(t, client.File(env)); got != broken {
					t.Errorf("%s of %s made %q of %q", what, client.Name, got, broken)
				}
			}
		}
	}
}

func TestBrokenTOMLIsLeftAlone(t *testing.T) {
	for _, broken := range []string{
		"model = ", "mcp_servers = []", "mcp_servers = 1", "mcp_servers = {}", "[[mcp_servers]]",
		`mcp_servers = { docs = { command = "x" } }`,
		`mcp_servers.tabrelay.command = "/by/hand"`, "[mcp_servers]\ntabrelay = { command = \"/by/hand\" }", "{}",
		"a = 1\na = 2\n",
	} {
		env := elsewhere(t.TempDir())
		client, _ := Find("codex")
		write(t, client.File(env), broken)
		_, err := client.Connect(env, server)
		var refused *BrokenError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v and %s", broken, err, text(t, client.File(env)))
		}
		if got := text(t, client.File(env)); got != broken {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

// FuzzTOML connects and disconnects in any file: what else it says stays.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"", "a = 1", "[mcp_servers.tabrelay]\ncommand = 'x'\n# c\n[b]\n",
		"[mcp_servers]\n\"tab\\u0072elay\".command = 1\n", "x = \"\"\"\n[mcp_servers.tabrelay]\n\"\"\"\n",
		"[mcp_servers.'tabrelay'.env]\r\na=1\r\n[[c]]\n[[c]]\n"} {
		f.Add(seed)
	}
	client, _ := Find("codex")
	path := append(client.path, entryName)
	f.Fuzz(func(t *testing.T, before string) {
		doc, err := client.form([]byte(before))
		if err != nil {
			return
		}
		was := others([]byte(before), path)
		if doc.put(path, client.entry(server)) != nil {
			if string(doc.pack()) != before {
				t.Errorf("refused, and changed to %q", doc.pack())
			}
			return
		}
		if entry, found := doc.entry(path); !found || client.parse(entry).Token != server.Token {
			t.Errorf("the entry is %s in %q", entry, doc.pack())
		}
		if err := doc.remove(path); err != nil {
			t.Errorf("what was written cannot be removed: %v in %q", err, doc.pack())
		}
		if diff := cmp.Diff(was, others(doc.pack(), path)); diff != "" {
			t.Errorf("%s in %q", diff, doc.pack())
		}
	})
}

func TestBackupAndLinkAreKeptAndTheFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are another matter there")
	}
	env := elsewhere(t.TempDir())
	client, _ := Find("claude-code")
	real := filepath.Join(env.Home, "dotfiles", "claude.json")
	write(t, real, `{"theme": "dark"}`)
	if err := errors.Join(os.Chmod(real, 0o640), os.Symlink(real, client.File(env))); err != nil {
		t.Fatal(err)
	}
	change, err := client.Connect(env, server)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, change.Backup); got != `{"theme": "dark"}` {
		t.Errorf("the copy is %s", got)
	}
	if info, err := os.Lstat(client.File(env)); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	mode := func(want fs.FileMode) {
		t.Helper()
		if info, err := os.Stat(real); err != nil || info.Mode().Perm() != want {
			t.Errorf("the mode became %v, %v", info.Mode(), err)
		}
	}
	mode(0o600)

	// The copy stays as it is, whatever happens to the entry later, and the file becomes what it was.
	rotated := server
	rotated.Token = "tabrelay_another"
	if again, err := client.Connect(env, rotated); err != nil || again.Backup != "" {
		t.Errorf("another token made the copy %q, %v", again.Backup, err)
	}
	if _, err := client.Disconnect(env); err != nil {
		t.Fatal(err)
	}
	if got := text(t, real); got != `{"theme": "dark"}` {
		t.Errorf("disconnected, the file is %s", got)
	}
	mode(0o640)
	if got := text(t, change.Backup); got != `{"theme": "dark"}` {
		t.Errorf("the copy became %s", got)
	}
}

// What the person changed while a client was connected stays when it is disconnected.
func TestDisconnectKeepsChanges(t *testing.T) {
	env := elsewhere(t.TempDir())
	client, _ := Find("zed")
	write(t, client.File(env), "{\n  \"theme\": \"dark\",\n}\n")
	if _, err := client.Connect(env, server); err != nil {
		t.Fatal(err)
	}
	write(t, client.File(env), strings.Replace(text(t, client.File(env)), "dark", "light", 1))
	if _, err := client.Disconnect(env); err != nil {
		t.Fatal(err)
	}
	if got := text(t, client.File(env)); got != "{\n  \"theme\": \"light\",\n}\n" {
		t.Errorf("the file is %s", got)
	}
}

// A copy that holds a token is told from one that does not.
func TestBackupSaysWhetherItHoldsAToken(t *testing.T) {
	env := elsewhere(t.TempDir())
	client, _ := Find("cursor")
	if _, found := client.Backup(env); found {
		t.Error("there is a copy of a file that was never changed")
	}
	copied := client.File(env) + ".before-tabrelay"
	for text, want := range map[string]Backup{
		`{}`:         {},
		"{ tabrelay": {},
		`{"mcpServers":{"tabrelay":{"command":"/t","env":{"TABRELAY_TOKEN":"tabrelay_` + strings.Repeat("0a", 16) +
			`","TABRELAY_HOME":"/srv/b"}}}}`: {Token: true, Entry: true, Home: "/srv/b"},
		"{ tabrelay_" + strings.Repeat("0a", 16): {Token: true},
	} {
		write(t, copied, text)
		want.File = copied
		if got, found := client.Backup(env); !found || got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestPrintGivesTheEntryOfAClient(t *testing.T) {
	client, _ := Find("claude-code")
	const want = `{
  "mcpServers": {
    "tabrelay": {
      "type": "stdio",
      "command": "/opt/tabrelay",
      "args": [
        "mcp",
        "--client",
        "claude-code"
      ],
      "env": {
        "TABRELAY_TOKEN": "tabrelay_secret"
      }
    }
  }
}
`
	if diff := cmp.Diff(want, client.Print(server)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFilePlaces(t *testing.T) {
	env := elsewhere("/home/ann")
	places := map[string]string{}
	for _, c := range Clients {
		places[c.Name] = filepath.ToSlash(c.File(env))
	}
	want := map[string]string{
		"claude-code":    "/home/ann/.claude.json",
		"claude-desktop": "/home/ann/.config/Claude/claude_desktop_config.json",
		"codex":          "/home/ann/.codex/config.toml",
		"cursor":         "/home/ann/.cursor/mcp.json",
		"gemini":         "/home/ann/.gemini/settings.json",
		"opencode":       "/home/ann/.config/opencode/opencode.json",
		"vscode":         "/home/ann/.config/Code/User/mcp.json",
		"windsurf":       "/home/ann/.codeium/windsurf/mcp_config.json",
		"zed":            "/home/ann/.config/zed/settings.json",
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	env.Getenv = func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude"}[name] }
	if client, _ := Find("claude-code"); filepath.ToSlash(client.File(env)) != "/srv/claude/.claude.json" {
		t.Errorf("CLAUDE_CONFIG_DIR is not honoured: %s", client.File(env))
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// content is the text of a file, empty when there is none.
func content(t *testing.T, file string) string {
	t.Helper()
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return text(t, file)
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"tabrelay/relay/state/config"
)

// ownTokens are the tokens of a home folder.
type ownTokens struct{ *config.Secrets }

func (t ownTokens) Has(name string) bool {
	return slices.ContainsFunc(t.Clients(), func(c config.Client) bool { return c.Name == name })
}

func (t ownTokens) Fresh(_ context.Context, name string) (string, error) {
	if t.Has(name) {
		return t.Rotate(name)
	}
	return t.Add(name)
}

func (t ownTokens) Revoke(_ context.Context, name string) error { return t.Secrets.Revoke(name) }

// reaching is a connection of a client to a relay, in folders of their own.
func reaching(t *testing.T, client Client, env Environment) Connection {
	t.Helper()
	home := config.Home(t.TempDir())
	secrets, err := config.OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	return Connection{Client: client, Env: env, Home: home, Tokens: ownTokens{secrets}}
}

// plainFile is a file of a client that says something else.
func plainFile(c Client) string {
	if c.toml {
		return "model = \"x\"\n"
	}
	return "{\n  \"theme\": \"dark\"\n}\n"
}

// Of every client: whether it is found, what connecting it would change, and that it then does just that.
func TestStateOfEveryClient(t *testing.T) {
	for _, client := range Clients {
		t.Run(client.Name, func(t *testing.T) {
			env := elsewhere(t.TempDir())
			c := reaching(t, client, env)
			file := client.File(env)
			if s := c.State(); s.Found || s.Connected || s.Copy != "" || s.Problem != "" || s.File != file {
				t.Errorf("of nothing: %+v", s)
			}
			if folder := filepath.Dir(file); folder != env.Home {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if s := c.State(); !s.Found || s.Copy != "" {
					t.Errorf("of its folder: %+v", s)
				}
			}
			write(t, file, plainFile(client))
			before := c.State()
			if !before.Found || before.Connected || before.Copy != file+".before-tabrelay" || before.Replaces ||
				before.Renews {
				t.Errorf("of its file: %+v", before)
			}
			done, err := c.Write(t.Context(), nil)
			if err != nil || !done.Changed || done.File != before.File || done.Backup != before.Copy ||
				done.Instead != "" {
				t.Errorf("connecting: %+v, %v", done, err)
			}
			if kept := text(t, before.Copy); kept != plainFile(client) {
				t.Errorf("the copy is %q", kept)
			}
			if s := c.State(); !s.Connected || s.Copy != before.Copy || s.Replaces || s.Renews {
				t.Errorf("connected: %+v", s)
			}
			if again, err := c.Write(t.Context(), nil); err != nil || again.Changed {
				t.Errorf("connecting again: %+v, %v", again, err)
			}
			if _, err := c.Remove(t.Context()); err != nil || text(t, file) != plainFile(client) ||
				c.Tokens.Has(client.Name) {
				t.Errorf("disconnecting: %v, %q", err, text(t, file))
			}
		})
	}
}

// What stands in the way of a connection is said before, and is what happens.
func TestStateSaysWhatIsReplaced(t *testing.T) {
	cursor, _ := Find("cursor")
	for _, tt := range []struct {
		name   string
		become func(t *testing.T, c Connection)
		want   State
	}{
		{"token revoked", func(t *testing.T, c Connection) {
			connected(t, c)
			revoke(t, c)
		}, State{Replaces: true}},
		{"token replaced elsewhere", func(t *testing.T, c Connection) {
			connected(t, c)
			fresh(t, c)
		}, State{Replaces: true, Renews: true}},
		{"a token for something else", fresh, State{Renews: true}},
		{"by its name alone", func(t *testing.T, c Connection) {
			s, err := c.Server()
			if err != nil {
				t.Fatal(err)
			}
			enter(t, c, s)
		}, State{Connected: true}},
		{"its program is gone", func(t *testing.T, c Connection) {
			enter(t, c, Server{Command: filepath.Join(t.TempDir(), "gone"), Home: string(c.Home)})
		}, State{Replaces: true}},
		{"an entry of another kind", func(t *testing.T, c Connection) {
			write(t, c.File(c.Env), `{"mcpServers": {"tabrelay": {"url": "http://127.0.0.1:7717/mcp"}}}`)
		}, State{Replaces: true}},
		{"another relay", func(t *testing.T, c Connection) {
			enter(t, c, Server{Command: "tabrelay", Home: "/home/ann/.tabrelay-work"})
		}, State{Replaces: true, Elsewhere: "/home/ann/.tabrelay-work"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := reaching(t, cursor, elsewhere(t.TempDir()))
			tt.become(t, c)
			got := c.State()
			if got.Connected != tt.want.Connected || got.Replaces != tt.want.Replaces ||
				got.Renews != tt.want.Renews || got.Elsewhere != tt.want.Elsewhere || got.Problem != "" {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			connected(t, c)
		})
	}
}

func revoke(t *testing.T, c Connection) {
	t.Helper()
	if err := c.Tokens.Revoke(t.Context(), c.Name); err != nil {
		t.Fatal(err)
	}
}

func fresh(t *testing.T, c Connection) {
	t.Helper()
	if _, err := c.Tokens.Fresh(t.Context(), c.Name); err != nil {
		t.Fatal(err)
	}
}

func enter(t *testing.T, c Connection, s Server) {
	t.Helper()
	if _, err := c.Connect(c.Env, s); err != nil {
		t.Fatal(err)
	}
}

// connected connects a client, and checks that it is.
func connected(t *testing.T, c Connection) {
	t.Helper()
	if _, err := c.Write(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if s := c.State(); !s.Connected || s.Replaces || s.Renews || s.Elsewhere != "" {
		t.Errorf("connected: %+v", s)
	}
}

// Of every client: a file that cannot be read or changed is told, stays as it is, and costs no token.
func TestStateOfBrokenFiles(t *testing.T) {
	for _, client := range Clients {
		for _, broken := range []string{"{", `{"` + client.path[0] + `": 7}`, client.path[0] + " = 7\n"} {
			env := elsewhere(t.TempDir())
			c := reaching(t, client, env)
			write(t, client.File(env), broken)
			if s := c.State(); s.Problem == "" || s.Hint == "" || s.Connected || !s.Found {
				t.Errorf("%s, %q: %+v", client.Name, broken, s)
			}
			_, err := c.Write(t.Context(), nil)
			if refused, ok := errors.AsType[*BrokenError](err); !ok || refused.Error() != c.State().Problem {
				t.Errorf("%s, %q: %v", client.Name, broken, err)
			}
			if got := text(t, client.File(env)); got != broken {
				t.Errorf("%s: %q became %q", client.Name, broken, got)
			}
		}
	}
}

// Where the file is a link, the file that it leads to is named and written, and the link stays.
func TestStateFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	cursor, _ := Find("cursor")
	env := elsewhere(t.TempDir())
	c := reaching(t, cursor, env)
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real = filepath.Join(real, "mcp.json")
	write(t, real, plainFile(cursor))
	if err := os.MkdirAll(filepath.Dir(cursor.File(env)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, cursor.File(env)); err != nil {
		t.Fatal(err)
	}
	if s := c.State(); s.File != real || s.Copy != real+".before-tabrelay" {
		t.Errorf("the file is %s, the copy %s", s.File, s.Copy)
	}
	connected(t, c)
	if to, err := os.Readlink(cursor.File(env)); err != nil || to != real {
		t.Errorf("the link leads to %s: %v", to, err)
	}
}

// The entry of another relay is not removed while that relay's home folder is there.
func TestRemoveLeavesOthers(t *testing.T) {
	cursor, _ := Find("cursor")
	c := reaching(t, cursor, elsewhere(t.TempDir()))
	other := t.TempDir()
	enter(t, c, Server{Command: "tabrelay", Home: other})
	_, err := c.Remove(t.Context())
	if foreign, ok := errors.AsType[*ForeignError](err); !ok || foreign.Home != other || foreign.Hint() == "" {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if change, err := c.Remove(t.Context()); err != nil || !change.Changed {
		t.Errorf("of a folder that is gone: %+v, %v", change, err)
	}
}

//go:build unix

package doctor

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// sound is a scene in which nothing is wrong.
func sound(t *testing.T) *Scene {
	t.Helper()
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	secrets, err := config.OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	token, err := secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	s := &Scene{
		Home: home, Version: "1", Hash: "h", Running: true, Bundle: fstest.MapFS{"manifest.json": {Data: []byte("{}")}},
		Relay: Relay{
			Version: "1", Address: "127.0.0.1:7717", Folder: home.Extension(), Plugins: 1, Tools: 2,
			Demo: "http://127.0.0.1:7718/",
			Browsers: []Browser{{Label: "Chrome 1", Chrome: "156.0.1", Extension: "1", Connected: true, UpToDate: true,
				Tabs: 3}},
		},
		Known: []string{"Chrome 1"}, Clients: []Client{{Name: "ann", Title: "Ann", Command: "/bin/sh", Token: token}},
		Free: func(string) (uint64, error) { return 1 << 40, nil },
	}
	// strings encode
	pairing, _ := json.Marshal(map[string]string{"address": s.Relay.Address, "secret": secrets.Pairing()})
	write(t, filepath.Join(home.Extension(), "pairing.json"), string(pairing))
	write(t, filepath.Join(home.Extension(), "manifest.json"), "{}")
	return s
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// provocation makes a finding.
type provocation = struct {
	provoke func(*testing.T, *Scene)
	names   string
}

// A capability attaches what it may lack.
func init() {
	Attach([]Row{{"key-missing", Problem, "A capability lacks a key.", "Nobody gave it one.", "give it"}})
}

func trouble(code string) func(*testing.T, *Scene) {
	return func(_ *testing.T, s *Scene) {
		s.Relay.Browsers, s.Relay.Trouble = nil, Trouble{Code: code, Message: "No browser."}
	}
}

func host(fault string) func(*testing.T, *Scene) {
	return func(_ *testing.T, s *Scene) { s.Hosts = []Host{{"Chromium", fault, "it is so"}} }
}

// provocations make each finding of the table, and what its sentence has to name.
var provocations = map[string]provocation{
	"home-missing": {func(_ *testing.T, s *Scene) { s.Home += "/nowhere" }, "nowhere"},
	"home-unusable": {func(t *testing.T, s *Scene) { s.Home += "/file"; write(t, string(s.Home), "") },
		"is not a folder"},
	"home-open": {func(t *testing.T, s *Scene) {
		if err := os.Chmod(string(s.Home), 0o750); err != nil {
			t.Fatal(err)
		}
	}, "mode 0750"},
	"disk-full": {func(_ *testing.T, s *Scene) {
		s.Free = func(string) (uint64, error) {
			return 3 << 20,
				nil
		}
	}, "3 MiB"},
	"config-broken": {func(t *testing.T, s *Scene) { write(t, s.Home.Config(), `{"listn":1}`) },
		"config.json:1: listn: no such setting; did you mean listen?"},
	"policy-broken": {func(t *testing.T, _ *Scene) {
		place := config.PolicyFile
		config.PolicyFile = filepath.Join(t.TempDir(), "policy.json")
		t.Cleanup(func() { config.PolicyFile = place })
		write(t, config.PolicyFile, `{"rulez":{}}`)
		if err := os.Chmod(config.PolicyFile, 0o666); err != nil { // whoever owns it
			t.Fatal(err)
		}
	}, "policy.json cannot be used"},
	"config-warning": {func(t *testing.T, _ *Scene) { t.Setenv("TABRELAY_LISTN", "x") }, "TABRELAY_LISTN"},
	"config-refused": {func(_ *testing.T, s *Scene) { s.Relay.Refused = "The configuration was refused" },
		"refused"},
	"config-waits": {func(_ *testing.T, s *Scene) { s.Relay.Restart = []string{"listen"} }, "listen"},
	"config-unconfirmed": {func(_ *testing.T, s *Scene) { s.Relay.Unapplied = "permissions.default: ask → auto" },
		"ask → auto"},
	"rules-lost": {func(_ *testing.T, s *Scene) { s.Relay.Lost = "2 changes are missing" }, "2 changes are " +
		"missing"},
	"rules-narrowed": {func(_ *testing.T, s *Scene) { s.Relay.Narrowed = "wiki: auto → off" }, "wiki: auto → off"},
	"config-widened": {func(_ *testing.T, s *Scene) { s.Relay.Widened = "permissions.default: ask → auto" },
		"ask → auto"},
	"minimal-forced": {func(_ *testing.T, s *Scene) { s.Minimal = true }, "TABRELAY_FORCE_MINIMAL"},
	"secrets-broken": {func(t *testing.T, s *Scene) { write(t, s.Home.Secrets(), "{}") }, "is damaged"},
	"state-broken": {func(t *testing.T, s *Scene) { write(t, s.Home.OldState()[0], "") },
		"profiles.json cannot be used: it is empty"},
	"database-broken": {func(t *testing.T, s *Scene) { write(t, s.Home.Database(), "no database") },
		"not a SQLite database"},
	"database-newer": {newerDatabase, "was written by a newer tabrelay (version 999 of its tables"},

	"binary-incomplete": {func(_ *testing.T, s *Scene) { s.Bundle = nil }, "extension"},
	"relay-stopped": {func(t *testing.T, s *Scene) {
		write(t, s.Home.Config(), `{"listen":"127.0.0.1:0","demo":{"listen":""}}`) // which nobody has taken
		s.Running = false
	}, "not running"},
	"relay-silent": {func(_ *testing.T, s *Scene) { s.Silent = errors.New("the relay did not answer") },
		"did not answer"},
	"port-taken": {func(t *testing.T, s *Scene) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() }) // nothing came
		s.Running = false
		s.Owner = func(context.Context, string) string { return "a web server" }
		write(t, s.Home.Config(), `{"listen":"`+l.Addr().String()+`"}`)
	}, "taken by a web server"},
	"remote-broken": {func(t *testing.T, s *Scene) {
		c := apitest.MakeCertificate(t, time.Now().AddDate(1, 0, 0), "relay.test")
		listensElsewhere(t, s, c.File, c.Authority)
		s.Running = false
	}, "The certificate for remote.listen, which needs TLS, cannot be used"},
	"remote-expires": {func(t *testing.T, s *Scene) {
		c := apitest.MakeCertificate(t, time.Now().AddDate(0, 0, 7), "relay.test")
		listensElsewhere(t, s, c.File, c.Key)
	}, "good until " + time.Now().AddDate(0, 0, 7).Format(time.DateOnly)},
	"token-expires": {func(t *testing.T, s *Scene) {
		secrets, err := config.OpenSecrets(s.Home)
		if err == nil {
			_, err = secrets.Admit(config.Client{Name: "guest", Remote: true, Expires: time.Now().AddDate(0, 0, 7)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}, "The token of guest is good until " + time.Now().AddDate(0, 0, 7).UTC().Format(time.DateOnly)},
	"demo-taken": {func(t *testing.T, s *Scene) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() }) // nothing came
		s.Relay.Demo = ""
		s.Owner = func(context.Context, string) string { return "a web server" }
		write(t, s.Home.Config(), `{"demo":{"listen":"`+l.Addr().String()+`"}}`)
	}, "taken by a web server"},
	"folder-moved": {func(_ *testing.T, s *Scene) {
		s.Relay.Browsers = nil
		s.Installed = []Installed{{Browser: "Chromium", Profile: "Default", Folder: "/gone/extension"}}
	}, "Chromium, profile Default loads the extension from /gone/extension"},
	"extension-off": {func(_ *testing.T, s *Scene) {
		s.Relay.Browsers = nil
		s.Installed = []Installed{{Browser: "Chromium", Profile: "Default", Folder: s.Relay.Folder, Off: true}}
	}, "Chromium, profile Default"},
	"browser-ended":   {func(_ *testing.T, s *Scene) { s.Relay.Browsers, s.Died = nil, 4711 }, "process 4711"},
	"client-home":     {func(_ *testing.T, s *Scene) { s.Clients[0].Elsewhere = "/gone/home" }, "/gone/home"},
	"version-differs": {func(_ *testing.T, s *Scene) { s.Relay.Version = "0.9" }, "0.9"},
	"corruption": {func(_ *testing.T, s *Scene) { s.Relay.Corrupt = map[string]int{"extension": 2} },
		"extension that could not be used since the relay started: 2"},

	"folder-unusable": {func(_ *testing.T, s *Scene) { s.Relay.Folder += "/nowhere" }, "nowhere"},
	"folder-stale": {func(t *testing.T, s *Scene) {
		write(t, filepath.Join(s.Relay.Folder, "manifest.json"),
			"old")
	}, "manifest.json"},
	"pairing-wrong": {func(t *testing.T, s *Scene) {
		write(t, filepath.Join(s.Relay.Folder, "pairing.json"), `{"address":"127.0.0.1:7717","secret":"other"}`)
	}, "another secret"},

	"extension-absent":  {trouble("EXTENSION_NOT_INSTALLED"), "No browser."},
	"browser-closed":    {trouble("BROWSER_NOT_RUNNING"), "No browser."},
	"browser-absent":    {trouble("EXTENSION_NOT_CONNECTED"), "No browser."},
	"worker-asleep":     {trouble("WORKER_ASLEEP"), "No browser."},
	"pairing-refused":   {trouble("PAIRING_FAILED"), "No browser."},
	"extension-version": {trouble("VERSION_MISMATCH"), "No browser."},
	"extension-old":     {func(_ *testing.T, s *Scene) { s.Relay.Browsers[0].UpToDate = false }, "Chrome 1"},
	"user-scripts-off": {func(_ *testing.T, s *Scene) {
		s.Relay.Browsers[0].Store, s.Relay.Browsers[0].Waiting = true, []string{"shop", "wiki"}
	}, `"Chrome 1" does not run plugins that you added: shop, wiki`},
	"native-host-missing": {host("missing"), "Chromium: it is so"},
	"native-host-broken":  {host("broken"), "Chromium: it is so"},
	"native-host-foreign": {host("foreign"), "Chromium: it is so"},
	"chrome-old":          {func(_ *testing.T, s *Scene) { s.Relay.Browsers[0].Chrome = "122.0.6261.57" }, "122"},
	"profile-away":        {func(_ *testing.T, s *Scene) { s.Known = append(s.Known, "Work") }, "Work"},

	"plugin-broken": {func(_ *testing.T, s *Scene) { s.Relay.Problems = []Complaint{{"shop", "has no pages"}} },
		"shop: has no pages"},
	"paused":       {func(_ *testing.T, s *Scene) { s.Relay.Paused = true }, "stopped"},
	"review-waits": {func(_ *testing.T, s *Scene) { s.Relay.Waiting = []string{"shop"} }, "shop"},
	"review-off":   {func(_ *testing.T, s *Scene) { s.Relay.Unreviewed = true }, "without"},
	"key-missing": {func(_ *testing.T, s *Scene) {
		s.Relay.Lacks = []Lack{{ID: "of-tomorrow", What: "Unknown"}, {ID: "key-missing", What: "It lacks a key"}}
	}, "It lacks a key"},
	"client-broken":  {func(_ *testing.T, s *Scene) { s.Clients[0].Err = errors.New("not JSON") }, "Ann: not JSON"},
	"client-command": {func(_ *testing.T, s *Scene) { s.Clients[0].Command = "/gone/tabrelay" }, "/gone/tabrelay"},
	"client-token":   {func(_ *testing.T, s *Scene) { s.Clients[0].Token = "tabrelay_old" }, "Ann"},
	"client-none":    {func(_ *testing.T, s *Scene) { s.Clients = nil }, "No MCP client"},
}

func TestEachFindingIsFound(t *testing.T) {
	for _, row := range table {
		if row.ID == "home-shut" || row.ID == "home-foreign" {
			continue // TestPermissionTroubleIsToldOnce has them
		}
		t.Run(row.ID, func(t *testing.T) {
			p, ok := provocations[row.ID]
			if !ok {
				t.Fatal("nothing provokes it")
			}
			s := sound(t)
			for _, f := range Examine(t.Context(), *s) {
				if f.Severity != OK {
					t.Fatalf("in a sound scene: %+v", f)
				}
			}
			p.provoke(t, s)
			found := Examine(t.Context(), *s)
			i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == row.ID })
			if i < 0 {
				t.Fatalf("not among %+v", found)
			}
			f := found[i]
			if f.Severity != row.Severity || !strings.Contains(f.What, p.names) || f.Why == "" || f.Next == "" {
				t.Errorf("%+v", f)
			}
			if Sound(found) != (row.Severity == Warning) &&
				!slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Problem && f.ID != row.ID }) {
				t.Errorf("sound is %v", Sound(found))
			}
		})
	}
}

// The edition from a store is told apart, also where the browser and not the relay brings the next version of it.
func TestTheEditionFromAStoreIsSaid(t *testing.T) {
	s := sound(t)
	s.Relay.Browsers[0].Store = true
	said := func(id string) Finding {
		found := Examine(t.Context(), *s)
		return found[slices.IndexFunc(found, func(f Finding) bool { return f.ID == id })]
	}
	if f := said("browser"); !strings.Contains(f.What, "extension 1, from a store, open tabs: 3") {
		t.Errorf("%+v", f)
	}
	s.Relay.Browsers[0].UpToDate = false
	if f := said("extension-old"); !strings.Contains(f.Next, "“Update”") || !strings.Contains(f.Why, "by itself") {
		t.Errorf("%+v", f)
	}
}

// A start of the relay registers it: without one, nothing is missed.
func TestNoHostIsMissedWithoutARelay(t *testing.T) {
	s := sound(t)
	s.Running = false
	for fault, want := range map[string]bool{"missing": false, "broken": false, "foreign": true} {
		host(fault)(t, s)
		found := Examine(t.Context(), *s)
		got := slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "native-host-"+fault })
		if got != want {
			t.Errorf("%s is found: %v", fault, got)
		}
	}
}

func listensElsewhere(t *testing.T, s *Scene, certificate, key string) {
	write(t, s.Home.Config(), fmt.Sprintf(`{"remote":{"listen":"127.0.0.1:7719","certificate":%q,"key":%q}}`,
		certificate, key))
}

// newerDatabase is what a later release leaves for one that was installed again.
func newerDatabase(t *testing.T, s *Scene) {
	made, err := store.Open(t.Context(), s.Home.Database(), store.Limits{}, zerolog.Nop())
	if err == nil {
		err = made.Close() // it writes at its start
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", s.Home.Database())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 999")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// Where other machines reach the relay, and by which names, is said.
func TestWhatListensElsewhereIsSaid(t *testing.T) {
	s := sound(t)
	c := apitest.MakeCertificate(t, time.Now().AddDate(1, 0, 0), "relay.test", "192.0.2.1")
	listensElsewhere(t, s, c.File, c.Key)
	for _, f := range Examine(t.Context(), *s) {
		if f.ID == "remote" && f.Severity == OK &&
			strings.Contains(f.What, "127.0.0.1:7719 with TLS, as relay.test, 192.0.2.1, and need a token") {
			return
		}
	}
	t.Error("it is not said")
}

// A relay that hangs has its ports: nobody else is accused of them.
func TestPortsOfARelayThatHangs(t *testing.T) {
	s := sound(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nothing came
	write(t, s.Home.Config(), `{"listen":"127.0.0.1:0","demo":{"listen":"`+l.Addr().String()+`"}}`)
	s.Running, s.Silent = false, errors.New("the relay does not answer within 3s")
	found := slices.DeleteFunc(Examine(t.Context(), *s), func(f Finding) bool { return f.Severity == OK })
	if len(found) != 1 || found[0].ID != "relay-silent" {
		t.Errorf("%+v", found)
	}
}

// What keeps a relay from starting is said, and not that none runs, with a next step that fails.
func TestWhatKeepsARelayFromStartingIsSaidAlone(t *testing.T) {
	for _, id := range []string{"config-broken", "secrets-broken", "state-broken", "database-broken",
		"database-newer", "port-taken", "remote-broken"} {
		t.Run(id, func(t *testing.T) {
			s := sound(t)
			provocations[id].provoke(t, s)
			s.Running = false
			var ids []string
			for _, f := range Examine(t.Context(), *s) {
				ids = append(ids, f.ID)
			}
			if !slices.Contains(ids, id) || slices.Contains(ids, "relay-stopped") {
				t.Error(ids)
			}
		})
	}
}

// An extension of another relay is named with its folder, and this relay's beside it.
func TestExtensionOfAnotherRelay(t *testing.T) {
	s := sound(t)
	trouble("PAIRING_FAILED")(t, s)
	other := t.TempDir()
	s.Installed = []Installed{{Browser: "Chromium", Profile: "Default", Folder: other}}
	found := Examine(t.Context(), *s)
	if f := found[0]; f.ID != "pairing-refused" || !strings.Contains(f.Why, other) ||
		!strings.Contains(f.Next, "choose "+s.Relay.Folder) {
		t.Errorf("%+v", found)
	}
}

// What is wrong comes first, and nothing that is looked at is changed.
func TestExamineChangesNothing(t *testing.T) {
	s := sound(t)
	s.Relay.Restart = []string{"listen"}
	s.Minimal = true
	before := tree(t, string(s.Home))
	found := Examine(t.Context(), *s)
	if found[0].Severity != Problem || found[1].Severity != Warning || found[2].Severity != OK {
		t.Errorf("the order is %+v", found)
	}
	if after := tree(t, string(s.Home)); !slices.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}

func tree(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

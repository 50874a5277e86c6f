//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// underPolicy puts a policy in place, as whoever runs the tests.
func underPolicy(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "policy.json")
	place, owner := PolicyFile, administrator
	PolicyFile, administrator = file, os.Getuid()
	t.Cleanup(func() { PolicyFile, administrator = place, owner })
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// homeWith is a home folder with this configuration.
func homeWith(t *testing.T, text string) Home {
	t.Helper()
	home := Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// What a policy sets wins over config.json and the environment, and over one member of a thing without the others.
func TestPolicySetsSettings(t *testing.T) {
	file := underPolicy(t, `{"contact": "it@example.org", "settings": {"timeoutMs": 1000, "review": {"required": true},
		"resources": {"tabs": {"excludePatterns": ["https://bank.example/*"]}},
		"plugins": {"wiki": {"enabled": false}}}}`)
	home := homeWith(t, `{"timeoutMs": 2000, "plugins": {"wiki": {"enabled": true,
		"urlPatterns": ["https://wiki.example/*"]}}}`)
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	c, err := Load(home)
	if err != nil {
		t.Fatal(err)
	}
	wiki := c.Plugin("wiki")
	if c.Timeout.Milliseconds() != 1000 || !c.Review.Required || wiki.Enabled || len(wiki.URLPatterns) != 1 ||
		!slices.Equal(c.Tabs.ExcludePatterns, []string{"https://bank.example/*"}) {
		t.Errorf("timeout %s, review %t, wiki %+v, excluded %q", c.Timeout, c.Review.Required, wiki,
			c.Tabs.ExcludePatterns)
	}
	want := []string{"plugins.wiki.enabled", "review.required", "tabs.excludePatterns", "timeoutMs"}
	if !slices.Equal(c.Managed.Settings, want) {
		t.Errorf("it sets %q", c.Managed.Settings)
	}
	for _, said := range []string{"timeoutMs is set by your organization's policy (" + file + "), so what config.json",
		"review.required is set by your organization's policy (" + file + "), so what environment variable"} {
		if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, said) }) {
			t.Errorf("nothing says that %s; but: %q", said, c.Warnings)
		}
	}
	list, err := Entries(home, []string{"TABRELAY_REVIEW_REQUIRED=false"})
	for _, e := range list {
		if set := slices.Contains(want, e.Key) || e.Key == "plugins"; set != (e.From == "policy") {
			t.Errorf("%s is from %s", e.Key, e.From)
		}
		if e.Key == "plugins" && string(e.Value) !=
			`{"wiki":{"enabled":false,"urlPatterns":["https://wiki.example/*"]}}` {
			t.Errorf("the plugins are shown as %s", e.Value)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// What a policy sets is edited by nothing that writes config.json; what it does not set, is.
func TestPolicyRefusesEdits(t *testing.T) {
	file := underPolicy(t, `{"contact": "it@example.org", "plugins": {"allow": [{"name": "wiki"}]},
		"settings": {"trustedInput": false, "tabs": {"urlPatterns": []}}}`)
	home := homeWith(t, `{"trustedInput": true}`)
	for _, edit := range []Edit{
		{[]string{"trustedInput"}, []byte("true")},
		{[]string{"tabs", "urlPatterns"}, []byte(`["*://*/*"]`)},
		{[]string{"resources", "tabs", "urlPatterns"}, []byte(`["*://*/*"]`)}, // what it was called before
		{[]string{"plugins", "shop", "enabled"}, []byte("true")},
	} {
		err := Apply(home, Edit{[]string{"timeoutMs"}, []byte("500")}, edit)
		refused, ok := errors.AsType[*ManagedError](err)
		if !ok || !strings.Contains(err.Error(), file) || !strings.Contains(refused.Hint(), "it@example.org") {
			t.Errorf("%s: %v", edit.Path, err)
		}
	}
	text, _ := os.ReadFile(home.Config())
	if string(text) != `{"trustedInput": true}` {
		t.Errorf("config.json is now %s", text)
	}
	for _, edit := range []Edit{{[]string{"trustedInput"}, nil}, {[]string{"tabs", "excludePatterns"}, []byte("[]")},
		{[]string{"plugins", "wiki", "enabled"}, []byte("true")}} {
		if err := Apply(home, edit); err != nil {
			t.Errorf("%s: %v", edit.Path, err)
		}
	}
}

// What a person confirmed, or took back, does not bound what the policy sets.
func TestPolicyIsNotBounded(t *testing.T) {
	underPolicy(t, `{"settings": {"trustedInput": true, "remote": {"listen": ""},
		"plugins": {"wiki": {"enabled": true}}}}`)
	c, err := Load(homeWith(t, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	before := Default()
	before.Plugins = map[string]Plugin{"wiki": {}}
	bounded := c.Within(RightsOf(&before))
	if !bounded.TrustedInput || !bounded.Plugin("wiki").Enabled {
		t.Errorf("trustedInput is %t, wiki is on: %t", bounded.TrustedInput, bounded.Plugin("wiki").Enabled)
	}
	if grown := RightsOf(&c).Grown(RightsOf(&before)); len(grown) > 0 {
		t.Errorf("a person is asked about %v", grown)
	}
}

// A policy that cannot be trusted or read is an error, and never as if there were none.
func TestPolicyThatCannotBeUsed(t *testing.T) {
	with := func(change func(t *testing.T, file string)) func(*testing.T, string) {
		return func(t *testing.T, file string) { t.Helper(); change(t, file) }
	}
	text := func(text string) func(*testing.T, string) {
		return with(func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	do := func(change func(file string) error) func(*testing.T, string) {
		return with(func(t *testing.T, file string) {
			if err := change(file); err != nil {
				t.Fatal(err)
			}
		})
	}
	for name, test := range map[string]struct {
		change func(*testing.T, string)
		says   string
	}{
		"empty":          {text(""), "the file is empty; put back what it said, or write {} into it"},
		"not JSON":       {text("{"), "not JSON"},
		"a list":         {text("[]"), "expected an object"},
		"unknown member": {text(`{"rule": {}}`), `no such setting; did you mean rules?`},
		"wrong mode":     {text(`{"rules": {"default": "never"}}`), "rules: expected an object from"},
		"part of a site": {text(`{"sites": {"deny": ["https://bank.example/admin/*"]}}`),
			"a match pattern of whole sites"},
		"every site":  {text(`{"sites": {"allow": ["<all_urls>"]}}`), "a match pattern of whole sites"},
		"empty pin":   {text(`{"plugins": {"allow": [{}]}}`), "plugins.allow: expected a list of plugins"},
		"null":        {text(`{"sites": null}`), "expected an object"},
		"null list":   {text(`{"sites": {"allow": null}}`), "expected a list"},
		"bad setting": {text(`{"settings": {"timeoutMs": 1}}`), "timeoutMs: expected a whole number"},
		"permissions": {text(`{"settings": {"permissions": {"default": "auto"}}}`), "rules stand under rules"},
		"twice":       {text(`{"rules": {}, "rules": {"default": "off"}}`), "is set twice"},
		"too large":   {text(`{"contact": "` + strings.Repeat("x", maxFile) + `"}`), "at most"},
		"too deep":    {text(strings.Repeat("[", maxFile)), "nest 1048576 levels deep; at most 1000 are read"},
		"too deep behind comments": {text(`{"settings": /* " */ {"x": ` + strings.Repeat(`["\"", `, 100_000)),
			"levels deep; at most 1000 are read"},
		"not UTF-8":        {text("{\"rules\": {\"shop\xff\": \"off\"}}"), "rules: expected an object from"},
		"a rule twice":     {text(`{"rules": {"shop": "off", "sh\u006fp": "auto"}}`), "rules: expected an object"},
		"a client twice":   {text(`{"rules": {"shop": {"bob": "off", "bob": "auto"}}}`), "rules: expected an object"},
		"an alias":         {text(`{"rules": {"default": "off", "all": "auto"}}`), "rules: expected an object from"},
		"capitals":         {text(`{"Rules": {"default": "off"}}`), "no such setting; did you mean rules?"},
		"a blank":          {text(`{"sites ": {"allow": []}}`), "no such setting; did you mean sites?"},
		"a dot":            {text(`{"sites.allow": []}`), "sites.allow: no such setting"},
		"a setting's dot":  {text(`{"settings": {"review.required": true}}`), "review.required: no such setting"},
		"a number as host": {text(`{"sites": {"deny": ["http://0x0a000001/*"]}}`), "sites.deny: expected a list"},
		"a long IPv6":      {text(`{"sites": {"deny": ["http://[::ffff:1.0.0.1]/*"]}}`), "sites.deny: expected"},
		"another script":   {text(`{"sites": {"deny": ["https://bücher.example/*"]}}`), "sites.deny: expected a list"},
		"writable": {do(func(f string) error { return os.Chmod(f, 0o666) }),
			"others than the administrator can write"},
		"writable folder": {do(func(f string) error { return os.Chmod(filepath.Dir(f), 0o777) }),
			"others than the administrator can write"},
		"another's": {do(func(string) error { administrator = 12345; return nil }),
			"does not belong to the administrator"},
		"a folder": {do(func(f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o755)) }),
			"not a regular file"},
		"a pipe": {do(func(f string) error { return errors.Join(os.Remove(f), syscall.Mkfifo(f, 0o644)) }),
			"not a regular file"},
		"a device": {do(func(f string) error { return errors.Join(os.Remove(f), os.Symlink("/dev/zero", f)) }),
			"dev"}, // root owns it, and everybody may write to it
		"a socket": {do(func(f string) error {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			return errors.Join(err, os.Remove(f), syscall.Bind(fd, &syscall.SockaddrUnix{Name: f}), syscall.Close(fd))
		}), "policy.json"},
		"a link to itself": {do(func(f string) error { return errors.Join(os.Remove(f), os.Symlink(f, f)) }),
			"too many links"},
		"unreadable": {do(func(f string) error {
			if os.Getuid() == 0 {
				return os.WriteFile(f, nil, 0) // root reads everything; it is empty
			}
			return os.Chmod(f, 0)
		}), "policy.json"},
		"through a folder that others write": {do(func(f string) error {
			open := t.TempDir()
			real, link := filepath.Join(filepath.Dir(f), "real.json"), filepath.Join(open, "link.json")
			return errors.Join(os.Chmod(open, 0o777), os.Rename(f, real), os.Symlink(real, link), os.Symlink(link, f))
		}), "others than the administrator can write"},
		"a folder that is a link to nowhere": {do(func(f string) error {
			dir := filepath.Join(filepath.Dir(f), "tabrelay")
			PolicyFile = filepath.Join(dir, "policy.json")
			return os.Symlink(filepath.Join(filepath.Dir(f), "none"), dir)
		}), "a link that leads nowhere"},
		"a link to nowhere": {do(func(f string) error {
			return errors.Join(os.Remove(f), os.Symlink(filepath.Join(t.TempDir(), "none"), f))
		}), "a link that leads nowhere"},
		"a link to what others write": {do(func(f string) error {
			other := filepath.Join(t.TempDir(), "mine.json")
			return errors.Join(os.WriteFile(other, []byte("{}"), 0o600), os.Chmod(other, 0o666), os.Remove(f),
				os.Symlink(other, f))
		}), "others than the administrator can write"},
		"no folder": {do(func(f string) error {
			PolicyFile = filepath.Join(f, "policy.json") // the folder is a file
			return nil
		}), "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			file := underPolicy(t, `{"rules": {"default": "off"}}`)
			test.change(t, file)
			c, err := Load(homeWith(t, `{}`))
			if err == nil {
				t.Fatalf("it is read, as %+v", c.Managed)
			}
			_, broken := errors.AsType[*Error](err)
			_, unusable := errors.AsType[*FileError](err)
			if !broken && !unusable || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %q, not %q", err, test.says)
			}
			if err := Set(homeWith(t, `{}`), []string{"timeoutMs"}, []byte("500")); err == nil {
				t.Error("settings are changed nevertheless")
			}
		})
	}
}

// Links that only an administrator can change lead to a policy, and no file behind one is none.
func TestPolicyBehindLinks(t *testing.T) {
	file := underPolicy(t, `{"rules": {"default": "off"}}`)
	dir := filepath.Dir(file)
	for _, link := range [][2]string{{dir, "folder"}, {"folder/../" + filepath.Base(dir) + "/policy.json", "near.json"},
		{filepath.Join(dir, "near.json"), "far.json"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(file, filepath.Join(dir, "real.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("./real.json", file); err != nil {
		t.Fatal(err)
	}
	for name, found := range map[string]bool{"policy.json": true, "far.json": true, "folder/far.json": true,
		"folder/none.json": false, "folder/folder/none/policy.json": false} {
		PolicyFile = filepath.Join(dir, name)
		if m, err := ReadPolicy(); err != nil || (m != nil) != found {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// No variable leads to another policy, or to none.
func TestPolicyHasOnePlace(t *testing.T) {
	file := underPolicy(t, `{"settings": {"trustedInput": false}}`)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "policy.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "ProgramData", "TABRELAY_HOME", "ETC",
		"TABRELAY_POLICY", "TABRELAY_POLICY_FILE"} {
		t.Setenv(name, other)
	}
	t.Setenv("TABRELAY_TRUSTED_INPUT", "true")
	for range 2 { // as it is built for a test, and as it is shipped
		home, err := ResolveHome()
		if err != nil || string(home) != other {
			t.Fatalf("the home is %s, %v", home, err)
		}
		if c, err := Load(home); PolicyFile != "" && (err != nil || c.TrustedInput || c.Managed.File != file) {
			t.Errorf("trusted input: %t, %v", c.TrustedInput, err)
		}
		PolicyFile = ""
		if place := PolicyPlace(); strings.HasPrefix(place, other) {
			t.Errorf("the policy would be %s", place)
		}
	}
}

// The file is replaced again and again while it is read: what is read is one of the files, or an error.
func TestPolicyThatIsReplacedWhileItIsRead(t *testing.T) {
	file := underPolicy(t, `{"rules": {"default": "off"}}`)
	link, pipe := file+".link", file+".pipe"
	for _, err := range []error{os.Symlink("/dev/zero", link), syscall.Mkfifo(pipe, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			other := []string{link, pipe, file + ".text"}[n%3]
			_ = os.WriteFile(file+".text", []byte(`{"rules": {"default": "ask"}}`), 0o644)
			_ = os.Link(other, file+".new") // so that it can be done again
			_ = os.Rename(file+".new", file)
		}
	}()
	for range 2000 {
		if m, err := ReadPolicy(); err == nil && (m == nil || len(m.Rules["default"]) != 1) {
			t.Fatalf("%+v", m)
		}
	}
	close(stop)
	<-stopped
}

// A policy that comes while config.json cannot be read is put over the configuration of before, which stays as it was.
func TestPolicyOverAnEarlierConfiguration(t *testing.T) {
	before, err := read(t, `{"review": {"required": false}, "maxTimeoutMs": 600000,
		"plugins": {"wiki": {"enabled": true}}}`)
	if err != nil {
		t.Fatal(err)
	}
	underPolicy(t, `{"settings": {"review": {"required": true}, "plugins": {"wiki": {"enabled": false}}}}`)
	m, err := ReadPolicy()
	if err != nil {
		t.Fatal(err)
	}
	after, err := before.Under(m)
	if err != nil || !after.Review.Required || after.Plugin("wiki").Enabled || after.Managed != m {
		t.Errorf("%v: review %t, wiki %t", err, after.Review.Required, after.Plugin("wiki").Enabled)
	}
	if before.Review.Required || !before.Plugin("wiki").Enabled {
		t.Error("the configuration of before is another one now")
	}
	underPolicy(t, `{"rules": {"default": "off"}, "settings": {"maxTimeoutMs": 1000}}`)
	if m, err = ReadPolicy(); err != nil {
		t.Fatal(err)
	}
	after, err = before.Under(m)
	if err == nil || after.Managed != m || after.MaxTimeout != before.MaxTimeout {
		t.Errorf("settings that do not go together: %v, %s", err, after.MaxTimeout)
	}
}

// Without a file there is no policy; once a relay has one, that it is gone is an error.
func TestPolicyThatIsGone(t *testing.T) {
	file := underPolicy(t, `{"rules": {"default": "ask"}}`)
	home := homeWith(t, `{}`)
	c, err := Load(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err = Reload(home, true, c.Managed)
	if err == nil || !strings.Contains(err.Error(), "is gone, and stays in effect") {
		t.Errorf("a relay that has it reads %v", err)
	}
	if c, err := Load(home); err != nil || c.Managed != nil {
		t.Errorf("a start: %+v, %v", c.Managed, err)
	}
}

func TestPolicyPermitsPlugins(t *testing.T) {
	m := &Managed{Plugins: ManagedPlugins{Deny: []string{"shop"}, Allow: []PluginPin{
		{Name: "wiki", Hash: "abc"}, {Source: "npm:@acme/*"}, {Source: ShippedSource}}}}
	for _, test := range []struct {
		name, source, hash string
		may                bool
	}{
		{"wiki", "folder:/home/ann/wiki", "abc", true},
		{"wiki", "folder:/home/ann/wiki", "abd", false},
		{"mail", "npm:@acme/mail@1.0.0", "x", true},
		{"mail", "npm:@acme/mail/../../evil", "x", false},
		{"mail", "npm:acme-mail", "x", false},
		{"demo", ShippedSource, "x", true},
		{"shop", ShippedSource, "x", false},
	} {
		if may := m.Permits(test.name, test.source, test.hash); may != test.may {
			t.Errorf("%s from %s: %t", test.name, test.source, may)
		}
	}
	if (&Managed{Plugins: ManagedPlugins{Allow: []PluginPin{}}}).Permits("demo", ShippedSource, "x") {
		t.Error("an empty list allows")
	}
	if !(*Managed)(nil).Permits("any", "any", "any") {
		t.Error("without a policy a plugin is not allowed")
	}
}

// No text makes the reader of policies fail otherwise than with an error, and what it accepts, it fixes.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{
		`{"rules": {"default": {"*": "ask", "codex": "off"}}, "sites": {"allow": ["*://*.a.b/*"]}}`,
		`{"settings": {"timeoutMs": 500}} // it`,
		`{"plugins": {"allow": [{"name": "a", "source": "npm:[", "hash": ""}]}}`,
		"\ufeff{}", `{"settings": {"plugins": {"x": {}}}}`, `{"settings": {"tabs": {"urlPatterns": []}}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, r := parsePolicy("policy.json", []byte(text))
		c := Default()
		r.fix(m, &c)
		if len(r.faults) > 0 {
			return
		}
		if c.Managed != m {
			t.Error("the configuration has no policy")
		}
		for _, key := range m.Settings {
			if _, err := Path(key); err != nil || !m.Fixes(key) {
				t.Errorf("it sets %q: %v", key, err)
			}
		}
	})
}

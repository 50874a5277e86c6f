package install

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
)

// Where packages come from is what npm is told already: npm_config_registry, then .npmrc of the folder, of the person
// and of the machine (https://docs.npmjs.com/cli/v11/configuring-npm/npmrc). There is no address of our own.

// npmTime is how long npm may take to say what it is configured for.
const npmTime = 10 * time.Second

// Config is npm's configuration, as far as it says where packages are.
type Config struct {
	values    map[string]string
	transport http.RoundTripper // nil: that of the machine
}

// ReadConfig reads npm's configuration. getenv is os.Getenv; dir is the folder whose .npmrc counts, home the person's.
func ReadConfig(getenv func(string) string, dir, home string) (*Config, error) {
	c := &Config{values: map[string]string{}}
	user := cmp.Or(getenv("npm_config_userconfig"), getenv("NPM_CONFIG_USERCONFIG"), filepath.Join(home, ".npmrc"))
	files := []string{filepath.Join(dir, ".npmrc"), user}
	if global := cmp.Or(getenv("npm_config_globalconfig"), getenv("NPM_CONFIG_GLOBALCONFIG")); global != "" {
		files = append(files, global)
	} else {
		files = append(files, "/usr/local/etc/npmrc", "/usr/etc/npmrc", "/etc/npmrc")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("npm's configuration cannot be read: %w", err)
		}
		c.add(string(text), getenv)
	}
	if registry := cmp.Or(getenv("npm_config_registry"), getenv("NPM_CONFIG_REGISTRY")); registry != "" {
		c.values["registry"] = registry
	}
	return c, nil
}

var reference = lazyregexp.New(`\$\{([^}]+)\}`)

// add takes what an earlier file did not say.
func (c *Config) add(text string, getenv func(string) string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' || line[0] == '[' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)
		if _, said := c.values[key]; !ok || said {
			continue
		}
		c.values[key] = reference.ReplaceAllStringFunc(value,
			func(name string) string { return getenv(name[2 : len(name)-1]) })
	}
}

// Use makes an address the registry of all packages, whatever the configuration says.
func (c *Config) Use(registry string) {
	for key := range c.values {
		if strings.HasSuffix(key, ":registry") {
			delete(c.values, key)
		}
	}
	c.values["registry"] = registry
}

// AskNpm asks npm itself, where it is there and no file names a registry: npm has one built in.
func (c *Config) AskNpm(ctx context.Context) {
	if c.values["registry"] != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, npmTime)
	defer cancel()
	// Without npm, or when it fails, the registry stays unknown, and whoever needs it says so.
	npm := exec.CommandContext(ctx, "npm", "config", "get", "registry")
	npm.WaitDelay = childTime
	if answer, err := npm.Output(); err == nil {
		c.values["registry"] = strings.TrimSpace(string(answer))
	}
}

// registry is the address for a package, with a slash at its end.
func (c *Config) registry(name string) (*url.URL, error) {
	address := c.values["registry"]
	if scope, _, ok := strings.Cut(name, "/"); ok && c.values[scope+":registry"] != "" {
		address = c.values[scope+":registry"]
	}
	if address == "" {
		return nil, fault.Hinted(errors.New("no package registry is configured"), "name one with --registry URL, or "+
			"put registry=URL into ~/.npmrc, which npm reads too; where npm is installed, the one it uses is taken")
	}
	u, err := url.Parse(strings.TrimSuffix(address, "/") + "/")
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the registry's address in npm's configuration is not a URL")
	}
	return u, secure(u)
}

// nameOf tells a registry from others, and can be written down and shown: a password, and a path, which is a token at
// some, are left out; of a path stays a digest.
func nameOf(registry *url.URL) string {
	scheme, host := strings.ToLower(registry.Scheme), strings.ToLower(registry.Host)
	if port := registry.Port(); scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	name := scheme + "://" + host + "/"
	if path := strings.Trim(registry.EscapedPath(), "/"); path != "" {
		name += fmt.Sprintf("… (path with digest %.4x)", sha256.Sum256([]byte(path)))
	}
	return name
}

// secure refuses an address that anybody on the way could answer for.
func secure(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u) {
		return nil
	}
	return fmt.Errorf("%s is not asked: packages come over https", u.Host) // the rest of the address may be a secret
}

func isLoopback(u *url.URL) bool {
	ip, _ := netip.ParseAddr(u.Hostname())
	return ip.Unmap().IsLoopback() || u.Hostname() == "localhost"
}

// token is the secret for an address: npm's key for it is the address without its scheme, or a folder above it.
func (c *Config) token(u *url.URL) string {
	host := u.Host
	if h, port, err := net.SplitHostPort(host); err == nil && (port == "443" || port == "80") {
		host = h
	}
	for at := u.Path; ; {
		for _, key := range []string{"//" + u.Host + at, "//" + host + at} {
			for _, end := range []string{"", "/"} {
				if token := c.values[strings.TrimSuffix(key, "/")+end+":_authToken"]; token != "" {
					return token
				}
			}
		}
		i := strings.LastIndexByte(strings.TrimSuffix(at, "/"), '/')
		if i < 0 {
			return ""
		}
		at = at[:i]
	}
}

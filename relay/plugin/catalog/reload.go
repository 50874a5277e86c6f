package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// Refusal says why a reload failed: the configuration or the set of plugins cannot be used. The previous ones stay in
// effect.
type Refusal struct {
	Time   time.Time `json:"time"`
	Code   string    `json:"code"`
	Reason string    `json:"reason"`
	Next   string    `json:"next"` // the next step
}

// Refused says why the last reload failed; nil when it did not.
func (c *Catalog) Refused() *Refusal { return c.current.Load().refused }

// Restart returns the changed keys of the configuration that only a restart applies.
func (c *Catalog) Restart() []string { return c.current.Load().restart }

// Reload reads plugins and settings again, all or nothing: after an error the previous configuration and tools stay in
// effect, and clients, events, status and health say why. restart has the changed keys that only a restart applies.
func (c *Catalog) Reload() (restart []string, failure *fault.Error) {
	if c.changes.Do(func() { restart, failure = c.reload() }) != nil {
		return nil, stopping()
	}
	return restart, failure
}

func (c *Catalog) reload() (restart []string, failure *fault.Error) {
	m, err := config.ReadPolicy()
	if err == nil && m != nil { // what is wrong with it is found below
		if err := c.options.Policy.Manage(context.Background(), m); err != nil {
			return nil, c.refuse(fault.ConfigError, err)
		}
	}
	next, err := config.Reload(c.options.Home, c.hadConfig, c.options.Policy.Config().Managed)
	if err != nil { // the policy is in effect nevertheless, over the configuration of before
		if now := c.options.Policy.Config(); !now.Managed.Same(c.current.Load().config.Managed) {
			err = errors.Join(err, c.publish(now))
		}
		return nil, c.refuse(fault.ConfigError, err)
	}
	if err := c.publish(c.options.Policy.Bounded(next)); err != nil {
		return nil, c.refuse(fault.RegistryError, err)
	}
	c.hadConfig = next.Found()
	otherRules, err := c.options.Policy.Configure(context.Background(), next)
	if err != nil {
		return nil, c.refuse(fault.ConfigError, err)
	}
	if otherRules {
		c.checkRules()
	}
	if c.current.Load().refused != nil {
		c.update(func(s *state) { s.refused = nil })
		const message = "The configuration was read again and is in effect"
		c.options.Log.Info().Msg(message)
		c.options.ReloadAccepted(message)
	}
	return c.tellRestart(c.options.Policy.Config()), nil
}

// checkRules reports the rules of the configuration whose target does not exist.
func (c *Catalog) checkRules() {
	for _, problem := range c.options.Policy.Misspelt() {
		c.options.Log.Warn().Msg(problem)
		c.options.Notice(problem)
	}
}

// tellRestart reports the changed keys that only a restart applies.
func (c *Catalog) tellRestart(next config.Config) (restart []string) {
	restart = slices.DeleteFunc(config.Changed(c.options.Config, next), config.Live)
	news := !slices.Equal(restart, c.current.Load().restart)
	c.update(func(s *state) { s.restart = restart })
	if news && len(restart) > 0 {
		message := "Changed in the configuration, but in effect only after a restart (tabrelay down, tabrelay up): " +
			strings.Join(restart, ", ")
		c.options.Notice(message)
		c.options.Log.Warn().Strs("keys", restart).Msg(message) // after the notice, so that who reads the log finds it
	}
	return restart
}

// refuse notes why a reload failed, and reports it unless the one before failed for the same reason. Only functions in
// changes call it.
func (c *Catalog) refuse(code fault.Code, err error) *fault.Error {
	message := "The configuration was refused, and the one before it stays in effect: " + err.Error()
	if code == fault.RegistryError {
		message = "The plugins were refused, and the tools stay as they were: " + err.Error()
	}
	failure := fault.New(code, strings.ReplaceAll(message, "\n", "; "), fault.WithCause(err))
	if next := fault.HintOf(err); next != "" {
		failure.Hint = next
	}
	next := &Refusal{Time: time.Now().UTC(), Code: string(code), Reason: c.Public(failure.Message),
		Next: c.Public(failure.Hint)}
	before := c.current.Load().refused
	c.update(func(s *state) { s.refused = next })
	if before != nil && before.Reason == next.Reason {
		return failure
	}
	c.options.Log.Error().Err(err).Str("code", next.Code).Str("class", string(failure.Class)).
		Str("source", string(failure.Source)).Msg("the last good configuration and tools stay")
	c.options.ReloadRefused(failure, next)
	return failure
}

// Public removes paths of this machine from a text for a client. The name of a plugin replaces the path of its folder.
func (c *Catalog) Public(text string) string {
	for _, f := range c.current.Load().folders {
		text = strings.ReplaceAll(text, f.dir, f.plugin)
	}
	home := string(c.options.Home)
	text = strings.ReplaceAll(text, home+string(filepath.Separator), "")
	text = strings.ReplaceAll(text, home, "~/.tabrelay")
	if person, err := os.UserHomeDir(); err == nil && len(person) > 1 {
		text = strings.ReplaceAll(text, person, "~")
	}
	return fault.WithoutFolders(text)
}

const (
	// buildTime is how long a plugin's files must stay as they are before they are read: a build writes several.
	buildTime = 30 * time.Millisecond

	// editTime is the same for config.json: an editor may empty a file before it writes it.
	editTime = 100 * time.Millisecond
)

// policyTime is how often the policy is read though nothing tells that it changed.
var policyTime = 30 * time.Second // a variable for tests only

// Watch reloads when config.json, the policy, the list of plugins or the build output of a plugin changes, until ctx is
// done or the home folder is gone. It calls secretsChanged at the start and when secrets.json changes. Whoever uses the
// relay may have used up what the system lets one user watch, or changed a folder that no event tells of: so the policy
// is also read from time to time.
func (c *Catalog) Watch(ctx context.Context, secretsChanged func()) {
	log, home := c.options.Log, c.options.Home
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn().Err(err).Msg("plugins are not watched; POST /api/v1/reload reads them again")
		watcher = &fsnotify.Watcher{} // which tells nothing
	} else {
		defer watcher.Close() // nothing was written
	}
	follow := func() (now followed) {
		if err == nil {
			now = c.follow(watcher)
		}
		return now
	}
	now := follow()
	policy := time.NewTicker(policyTime)
	defer policy.Stop()
	secretsChanged() // it may have changed before it was watched
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	secrets := home.Secrets()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			switch {
			case event.Has(fsnotify.Remove|fsnotify.Rename) && !home.Exists(): // each call writes to the database there
				return
			case event.Name == secrets:
				secretsChanged()
			case slices.Contains(now.config, event.Name):
				settled.Reset(editTime)
			case slices.Contains(now.folders, filepath.Dir(event.Name)): // nothing else of the home folder matters
				settled.Reset(buildTime)
			}
		case err := <-watcher.Errors:
			log.Warn().Err(err).Msg("changes of plugins may have been missed")
			settled.Reset(buildTime)
		case <-policy.C:
			if !home.Exists() {
				return
			}
			if c.policyChanged() {
				settled.Reset(0)
			}
		case <-settled.C:
			if !home.Exists() {
				return // a reload would create the home folder again
			}
			now = follow()    // before the reload, so that a change during it causes another one
			_, _ = c.Reload() // reports its error
		}
	}
}

// policyChanged reports whether the policy is another one than the one in effect, or became one that cannot be used.
func (c *Catalog) policyChanged() bool {
	m, err := config.ReadPolicy()
	had := c.options.Policy.Config().Managed
	gone := m == nil && had != nil // or broken: the one before stays, and it was said
	return !gone && !m.Same(had) || (err != nil || gone) && c.Refused() == nil
}

// followed are the files and folders whose changes cause a reload.
type followed struct {
	config  []string // config.json, the policy, and, where one is a symbolic link, its targets
	folders []string // of plugins: any change in them counts
}

// follow watches the folders that plugins and settings are in now. Adding one that is watched already has no effect.
func (c *Catalog) follow(watcher *fsnotify.Watcher) (now followed) {
	log, home := c.options.Log, c.options.Home
	if err := os.MkdirAll(home.Plugins(), 0o700); err != nil {
		log.Warn().Err(err).Msg("cannot make the folder of plugins")
	}
	added, err := build.Folders(home.Plugins())
	if err != nil {
		log.Warn().Err(err).Msg("cannot read the list of plugins")
	}
	now.config = linked(home.Config())
	policy := config.PolicyPlace()
	if policy != "" {
		now.config = append(append(now.config, linked(policy)...), filepath.Dir(policy)) // which may be made later
	}
	now.folders = append(now.folders, home.Plugins())
	for _, dir := range added {
		now.folders = append(now.folders, filepath.Clean(dir), filepath.Join(dir, "dist"))
	}
	watched := slices.Clone(now.folders)
	for _, file := range now.config {
		watched = append(watched, filepath.Dir(file))
	}
	for _, folder := range watched {
		if _, err := os.Stat(folder); err != nil {
			continue // its parent is watched, and reports when it is created
		}
		if err := watcher.Add(folder); err != nil {
			log.Warn().Err(err).Str("folder", folder).Msg("a folder cannot be watched")
		}
	}
	return now
}

// linked returns a file and, if it is a symbolic link, the files along its chain of links: people keep their settings
// in a repository of their own.
func linked(file string) (files []string) {
	for !slices.Contains(files, file) {
		files = append(files, file)
		to, err := os.Readlink(file)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = filepath.Clean(to)
	}
	return files
}

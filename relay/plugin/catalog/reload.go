package catalog

import (
	"context"
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

// Refusal is a configuration, or a set of plugins, that was not taken over. What was in effect before still is.
type Refusal struct {
	Time   time.Time `json:"time"`
	Code   string    `json:"code"`
	Reason string    `json:"reason"`
	Next   string    `json:"next"` // the next step
}

// Refused is what was not taken over at the last reading; nil: nothing.
func (c *Catalog) Refused() *Refusal { return c.current.Load().refused }

// Restart lists the keys of the configuration whose new values wait for a restart.
func (c *Catalog) Restart() []string { return c.current.Load().restart }

// Reload reads plugins and settings again. What cannot be used is refused as a whole: the last good configuration and
// set of tools stay, and clients, events, status and health say why. restart lists the keys that changed and that only
// a restart applies.
func (c *Catalog) Reload() (restart []string, failure *fault.Error) {
	if c.changes.Do(func() { restart, failure = c.reload() }) != nil {
		return nil, stopping()
	}
	return restart, failure
}

func (c *Catalog) reload() (restart []string, failure *fault.Error) {
	read := config.Load
	if c.hadConfig {
		read = config.Reload
	}
	next, err := read(c.options.Home)
	if err != nil {
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

// checkRules tells which rules of the configuration do nothing.
func (c *Catalog) checkRules() {
	for _, problem := range c.options.Policy.Misspelt() {
		c.options.Log.Warn().Msg(problem)
		c.options.Notice(problem)
	}
}

// tellRestart tells which settings that may be in effect wait for a restart.
func (c *Catalog) tellRestart(next config.Config) (restart []string) {
	restart = slices.DeleteFunc(config.Changed(c.options.Config, next), config.Live)
	news := !slices.Equal(restart, c.current.Load().restart)
	c.update(func(s *state) { s.restart = restart })
	if news && len(restart) > 0 {
		message := "Changed in the configuration, but in effect only after a restart (tabrelay down, tabrelay up): " +
			strings.Join(restart, ", ")
		c.options.Notice(message)
		c.options.Log.Warn().Strs("keys", restart).Msg(message) // last: whoever reads it finds the notice
	}
	return restart
}

// refuse keeps things as they are, and says so once for each reason. Only changes call it.
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

// Public leaves the folders of this machine out of what a client reads. A plugin's folder is named by the plugin.
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

// Watch reads plugins and settings again when config.json, the list of plugins or the build output of one changes,
// until ctx is done or the home folder is gone. It says when secrets.json has changed.
func (c *Catalog) Watch(ctx context.Context, secretsChanged func()) {
	log, home := c.options.Log, c.options.Home
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn().Err(err).Msg("plugins are not watched; POST /api/v1/reload reads them again")
		return
	}
	defer watcher.Close() // nothing was written
	now := c.follow(watcher)
	secretsChanged() // before it was watched
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
			case !home.Exists():
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
		case <-settled.C:
			if !home.Exists() {
				return // nothing of it is made anew
			}
			now = c.follow(watcher) // first: what changes while it is read is read again
			_, _ = c.Reload()       // which tells what is wrong itself
		}
	}
}

// followed is what is read again when it changes.
type followed struct {
	config  []string // config.json and, where it is a link, the files that it leads to
	folders []string // of plugins, whatever changes in them
}

// follow watches the folders that matter now. A folder that is watched already stays so.
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
			continue // it is not there yet; its parent tells
		}
		if err := watcher.Add(folder); err != nil {
			log.Warn().Err(err).Str("folder", folder).Msg("a folder cannot be watched")
		}
	}
	return now
}

// linked is a file and, where it is a link, what it leads to, link by link: people keep their settings elsewhere.
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

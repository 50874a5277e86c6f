package relay

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/plugin"
)

// settleTime is how long a plugin's files must stay as they are before they are read: a build writes several.
const settleTime = 30 * time.Millisecond

// editTime is the same for config.json: an editor may empty a file before it writes it.
const editTime = 100 * time.Millisecond

// watch reads plugins and settings again when config.json, the list of plugins or the build output of one changes, and
// shuts out clients whose tokens secrets.json does not have any more, until ctx is done.
func (r *Relay) watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		r.Log.Warn().Err(err).Msg("plugins are not watched; POST /api/v1/reload reads them again")
		return
	}
	defer watcher.Close() // nothing was written
	r.follow(watcher)
	r.review() // of what changed before
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			switch {
			case event.Name == r.Home.Secrets():
				r.review()
			case event.Name == r.Home.Config():
				settled.Reset(editTime)
			case filepath.Dir(event.Name) != string(r.Home): // in which log and database are written all the time
				settled.Reset(settleTime)
			}
		case err := <-watcher.Errors:
			r.Log.Warn().Err(err).Msg("changes of plugins may have been missed")
			settled.Reset(settleTime)
		case <-settled.C:
			r.follow(watcher)    // first: what changes while it is read is read again
			_, _ = r.reload(ctx) // which tells what is wrong itself
		}
	}
}

// follow watches the folders that matter now. A folder that is watched already stays so.
func (r *Relay) follow(watcher *fsnotify.Watcher) {
	folders := []string{string(r.Home), r.Home.Plugins()}
	if err := os.MkdirAll(r.Home.Plugins(), 0o700); err != nil {
		r.Log.Warn().Err(err).Msg("cannot make the folder of plugins")
	}
	added, err := plugin.List(r.Home.Plugins())
	if err != nil {
		r.Log.Warn().Err(err).Msg("cannot read the list of plugins")
	}
	for _, e := range added {
		folders = append(folders, e.Dir, filepath.Join(e.Dir, "dist"))
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err != nil {
			continue // it is not there yet; its parent tells
		}
		if err := watcher.Add(folder); err != nil {
			r.Log.Warn().Err(err).Str("folder", folder).Msg("a plugin's folder cannot be watched")
		}
	}
}

package relay

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/registry"
)

// live are the keys that a running relay takes over. Every other one needs a restart.
var live = []string{"plugins", "permissions"}

// Reloaded is the answer of POST /api/v1/reload.
type Reloaded struct {
	Tools         int                `json:"tools"`
	Problems      []registry.Problem `json:"problems"`
	RestartNeeded bool               `json:"restartNeeded"`
	Restart       []string           `json:"restart"` // keys whose new values only a restart applies
}

// RefusedConfig is a configuration, or a set of plugins, that was not taken over. What was in effect before still is.
type RefusedConfig struct {
	Time   time.Time `json:"time"`
	Code   string    `json:"code"`
	Reason string    `json:"reason"`
	Next   string    `json:"next"` // the next step
}

// refused remembers what the last reading was refused for, so that it is told once however often it is read.
type refused struct {
	reading    sync.Mutex // one reading at a time, so that what was read later is told later; comes before every other lock
	configured bool       // the configuration in effect came from a file; belongs to reading

	mu   sync.Mutex
	last *RefusedConfig
	keys []string // whose new values wait for a restart, and were told
}

func (r *refused) get() *RefusedConfig {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// set keeps a refusal, or that there is none; it reports what was there before.
func (r *refused) set(next *RefusedConfig) (before *RefusedConfig) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.last = r.last, next
	return before
}

// waits keeps the keys that wait for a restart, and reports whether they are others than those told before.
func (r *refused) waits(keys []string) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	news = !slices.Equal(r.keys, keys)
	r.keys = keys
	return news && len(keys) > 0
}

// waiting is the keys whose new values wait for a restart.
func (r *refused) waiting() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys
}

// reload reads plugins and settings again. What cannot be used is refused as a whole: the last good configuration and
// set of tools stay, and clients, events, status and health say why. restart lists the keys that changed and that only
// a restart applies.
func (r *Relay) reload(context.Context) (restart []string, failure *fault.Error) {
	r.refused.reading.Lock()
	defer r.refused.reading.Unlock()
	read := config.Load
	if r.refused.configured {
		read = config.Reload
	}
	next, err := read(r.Home)
	if err != nil {
		return nil, r.refuse(fault.ConfigError, err)
	}
	if err := r.replace(r.policy.Bounded(next)); err != nil {
		return nil, r.refuse(fault.RegistryError, err)
	}
	r.refused.configured = next.Found()
	otherRules, err := r.policy.Configure(context.Background(), next)
	if err != nil {
		return nil, r.refuse(fault.ConfigError, err)
	}
	if otherRules {
		r.checkRules()
	}
	if before := r.refused.set(nil); before != nil {
		const accepted = "The configuration was read again and is in effect"
		r.Log.Info().Msg(accepted)
		r.front.Log("notice", "tabrelay", accepted)
	}
	return r.tellRestart(r.policy.Config()), nil
}

// tellRestart tells which settings that may be in effect wait for a restart.
func (r *Relay) tellRestart(next config.Config) (restart []string) {
	restart = slices.DeleteFunc(config.Changed(r.config, next), func(key string) bool { return slices.Contains(live, key) })
	if r.refused.waits(restart) {
		message := "Changed in the configuration, but in effect only after a restart (tabrelay down, tabrelay up): " + strings.Join(restart, ", ")
		r.notices.add(Notice{Time: time.Now(), Kind: "config", Message: message})
		r.Log.Warn().Strs("keys", restart).Msg(message) // last: whoever reads it finds the notice
	}
	return restart
}

// refuse keeps things as they are, and says so once for each reason.
func (r *Relay) refuse(code fault.Code, err error) *fault.Error {
	message := "The configuration was refused, and the one before it stays in effect: " + err.Error()
	if code == fault.RegistryError {
		message = "The plugins were refused, and the tools stay as they were: " + err.Error()
	}
	failure := fault.New(code, strings.ReplaceAll(message, "\n", "; "), fault.WithCause(err))
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		fault.WithHint(hinted.Hint())(failure)
	}
	reason := r.withoutFolders(failure.Message)
	before := r.refused.set(&RefusedConfig{Time: time.Now().UTC(), Code: string(code), Reason: reason, Next: r.withoutFolders(failure.Hint)})
	if before != nil && before.Reason == reason {
		return failure
	}
	r.Log.Error().Err(err).Str("code", string(code)).Str("class", string(failure.Class)).Str("source", string(failure.Source)).Msg("the last good configuration and tools stay")
	r.meter.ErrorRaised(failure.Class, failure.Source, code)
	r.events.Publish(event.OfPerson(), event.Error, reason, map[string]any{"code": string(code), "source": string(failure.Source)})
	r.front.Log("error", "tabrelay", map[string]any{"code": code, "message": reason, "hint": failure.Hint})
	return failure
}

// anyFolder is an absolute path of this machine, up to the name at its end.
var anyFolder = regexp.MustCompile(`(^|[\s"'(=])(?:[A-Za-z]:)?[/\\]+(?:[^\s/\\"'<>|:;,()]+[/\\]+)+`)

// withoutFolders leaves the folders of this machine out of what a client reads. A plugin's folder is named by the
// plugin.
func (r *Relay) withoutFolders(text string) string {
	if folders := r.offer.folders.Load(); folders != nil {
		for _, f := range *folders {
			text = strings.ReplaceAll(text, f.dir, f.plugin)
		}
	}
	text = strings.ReplaceAll(text, string(r.Home)+string(filepath.Separator), "")
	text = strings.ReplaceAll(text, string(r.Home), "~/.tabrelay")
	if person, err := os.UserHomeDir(); err == nil && len(person) > 1 {
		text = strings.ReplaceAll(text, person, "~")
	}
	return anyFolder.ReplaceAllString(text, "$1…/")
}

// problemsFor are the problems of the plugins as somebody may read them: the person with folders, agents without.
func (r *Relay) problemsFor(s call.Session) []registry.Problem {
	list := r.problems(r.tools.Snapshot())
	if !policy.IsPerson(s) {
		for i := range list {
			list[i].Reason = fault.Plain(r.withoutFolders(list[i].Reason))
		}
	}
	return list
}

// reloadNow reads plugins and their configuration again. A client may ask for it too: it brings nothing into effect but
// what the person wrote, which is read by itself a moment after it changes.
func (r *Relay) reloadNow(w http.ResponseWriter, req *http.Request) {
	restart, failure := r.reload(req.Context())
	s, _ := sender(req.Context())
	if failure != nil {
		if !policy.IsPerson(s) {
			failure.Message, failure.Hint = r.withoutFolders(failure.Message), r.withoutFolders(failure.Hint)
		}
		refuse(w, http.StatusUnprocessableEntity, failure)
		return
	}
	reply(w, http.StatusOK, Reloaded{Tools: len(r.tools.Snapshot().Tools), Problems: r.problemsFor(s), RestartNeeded: len(restart) > 0, Restart: restart})
}

package relay

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/confirm"
)

// rightsSwitch is the name under which the store has what was in effect last.
const rightsSwitch = "rights"

// keptRights is what outlives a relay.
type keptRights struct {
	InEffect config.Rights  `json:"inEffect"`         // of the configuration, when this was written
	Before   *config.Rights `json:"before,omitempty"` // a start let agents do more than this, and nobody has said that they saw it
	Undone   *config.Rights `json:"undone,omitempty"` // what a person went back to; more waits for them
}

// rights compares what the configuration lets agents do with what it did before. What a person or a program writes into
// config.json while the relay runs is in effect at once where it forbids more, and waits for the person where it allows
// more. What is there at a start is in effect, and is shown to them.
type rights struct {
	mu      sync.Mutex
	kept    keptRights
	known   bool          // there was an earlier start
	next    config.Config // as it was read last
	waits   *confirm.Change
	since   time.Time // when waits came
	denied  string    // digest of what waits, when the person said no to it
	started *confirm.Change
	began   time.Time
}

// readRights reads what was in effect last. What a person took back then stays so.
func (r *Relay) readRights(ctx context.Context) error {
	text, err := r.store.Switch(ctx, rightsSwitch)
	if err != nil {
		return err
	}
	v := &r.rights
	v.next, v.began = r.config, r.began
	if v.known = text != "" && json.Unmarshal([]byte(text), &v.kept) == nil; !v.known {
		v.kept = keptRights{}
	}
	if v.kept.Undone != nil {
		r.config = r.config.Within(*v.kept.Undone)
	}
	return nil
}

// compareRights compares the start with the last one, once the rules are known.
func (r *Relay) compareRights(ctx context.Context) error {
	v := &r.rights
	v.mu.Lock()
	defer v.mu.Unlock()
	wanted := config.RightsOf(&v.next)
	if undone := v.kept.Undone; undone != nil {
		if c := r.grown("The configuration allows more than you went back to", *undone, wanted); c != nil {
			r.permits.Hold(undone.Permissions)
			v.waits, v.since = c, v.began
			v.kept.InEffect, v.kept.Before = *undone, nil
		} else {
			v.kept.Undone = nil
		}
	}
	if v.kept.Undone == nil {
		r.compareStarts(wanted)
	}
	return v.write(ctx, r)
}

// compareStarts shows what this start lets agents do that the last one, or one before it that nobody has seen, did not.
func (r *Relay) compareStarts(wanted config.Rights) {
	v := &r.rights
	before := v.kept.InEffect
	if v.kept.Before != nil {
		before = *v.kept.Before
	}
	v.kept.InEffect = wanted
	if !v.known {
		return
	}
	v.started = r.grown("Since the last start, the configuration lets agents do more", before, wanted)
	if v.started == nil {
		v.kept.Before = nil
		return
	}
	v.kept.Before = &before
	r.Log.Warn().Str("change", v.started.String()).Msg("this start lets agents do more than the last one; tabrelay config undo takes that back")
	r.record(widening(call.Session{Via: "config"}, v.started, "in effect since the start", "config"))
}

// grown is what a configuration lets agents do that another one does not; nil: nothing.
func (r *Relay) grown(title string, before, after config.Rights) *confirm.Change {
	grown := after.Grown(before)
	if r.permits.WiderConfig(before.Permissions, after.Permissions) {
		grown = append(grown, after.Loosened(before)...)
	}
	if len(grown) == 0 {
		return nil
	}
	var list []confirm.Difference
	for _, d := range grown {
		list = append(list, confirm.Difference{What: d.Key, Before: d.Before, After: d.After})
	}
	return confirm.New(title, "", list...)
}

// admit is what of a configuration that was read again may be in effect now; the rest waits. The rules are for
// [permit.Permits.Configure] to bound.
func (r *Relay) admit(next config.Config) config.Config {
	v := &r.rights
	v.mu.Lock()
	defer v.mu.Unlock()
	return next.Within(v.kept.InEffect)
}

// admitted notes a configuration that was taken over as far as it may be, and tells what waits.
func (r *Relay) admitted(ctx context.Context, next config.Config, rulesWait bool) {
	v := &r.rights
	v.mu.Lock()
	defer v.mu.Unlock()
	before, wanted := v.kept.InEffect, config.RightsOf(&next)
	v.next = next
	bounded := next.Within(before)
	v.kept.InEffect = config.RightsOf(&bounded)
	if rulesWait {
		v.kept.InEffect.Permissions = before.Permissions
	}
	c := r.grown("config.json was changed to let agents do more", v.kept.InEffect, wanted)
	if v.kept.Before != nil && v.started != nil {
		if v.started = r.grown(v.started.Title, *v.kept.Before, v.kept.InEffect); v.started == nil {
			v.kept.Before = nil
		}
	}
	if c == nil {
		v.waits, v.denied, v.kept.Undone = nil, "", nil
		r.permits.Confirm() // no more than what was confirmed before is left
	} else if v.waits == nil || v.waits.Digest() != c.Digest() {
		v.waits, v.since = c, time.Now()
		message := "A change of the configuration lets agents do more, and waits for you (in the side panel, or: tabrelay config apply): " + c.String()
		r.Log.Warn().Msg(message)
		r.notices.add(Notice{Time: time.Now(), Kind: "config", Message: message})
		r.record(widening(call.Session{Via: "config"}, c, "waits", "relay"))
	}
	if err := v.write(ctx, r); err != nil {
		r.Log.Warn().Err(err).Msg("what the configuration allows was not written down")
	}
	r.news(topicConfirmations)
}

// write keeps what is in effect for the next start. The lock is held.
func (v *rights) write(ctx context.Context, r *Relay) error {
	text, err := json.Marshal(v.kept)
	if err != nil {
		return err
	}
	return r.store.SetSwitch(ctx, rightsSwitch, string(text))
}

// applyRights puts everything that the configuration says into effect.
func (r *Relay) applyRights(ctx context.Context) {
	r.refused.reading.Lock()
	defer r.refused.reading.Unlock()
	v := &r.rights
	v.mu.Lock()
	next := v.next
	v.waits, v.denied = nil, ""
	v.kept.InEffect, v.kept.Undone = config.RightsOf(&next), nil
	if err := v.write(ctx, r); err != nil {
		r.Log.Warn().Err(err).Msg("what the configuration allows was not written down")
	}
	v.mu.Unlock()
	r.permits.Confirm()
	if err := r.replace(next); err != nil {
		_ = r.refuse("REGISTRY_ERROR", err)
	}
	r.tellRestart(next)
}

// undoRights goes back to what was in effect before the start that let agents do more.
func (r *Relay) undoRights(ctx context.Context) {
	r.refused.reading.Lock()
	defer r.refused.reading.Unlock()
	v := &r.rights
	v.mu.Lock()
	if v.kept.Before == nil {
		v.mu.Unlock()
		return
	}
	before := *v.kept.Before
	next := v.next.Within(before)
	v.waits, v.since, v.started = r.grown("The configuration allows more than you went back to", before, config.RightsOf(&v.next)), time.Now(), nil
	v.denied = v.waits.Digest() // they have just said so
	v.kept = keptRights{InEffect: before, Undone: &before}
	if err := v.write(ctx, r); err != nil {
		r.Log.Warn().Err(err).Msg("that the change was taken back was not written down; the next start brings it again")
	}
	v.mu.Unlock()
	r.permits.Hold(before.Permissions)
	if next.Review.Required {
		r.reviews.require()
	}
	if err := r.replace(next); err != nil {
		_ = r.refuse("REGISTRY_ERROR", err)
	}
	r.tellRestart(next)
}

// keep notes that the person has seen what the last start brought.
func (v *rights) keep(ctx context.Context, r *Relay) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.started, v.kept.Before = nil, nil
	if err := v.write(ctx, r); err != nil {
		r.Log.Warn().Err(err).Msg("that the change was seen was not written down")
	}
}

// deny notes that the person wants a change not to be in effect: it still waits, but is not asked about any more.
func (v *rights) deny(c *confirm.Change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.denied = c.Digest()
}

// change is what waits, or what the last start brought; nil: nothing.
func (v *rights) change(kind string) *confirm.Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	if kind == confirmStart {
		return v.started
	}
	return v.waits
}

// waiting is what waits, in one line; empty: nothing.
func (v *rights) waiting() string {
	if c := v.change(confirmConfig); c != nil {
		return differences(c)
	}
	return ""
}

// widened is what the last start brought and nobody has seen, in one line; empty: nothing.
func (v *rights) widened() string {
	if c := v.change(confirmStart); c != nil {
		return differences(c)
	}
	return ""
}

func differences(c *confirm.Change) string {
	var list []string
	for _, d := range c.Differences {
		list = append(list, d.String())
	}
	return strings.Join(list, "; ")
}

// asks reports whether something waits that the person has not answered.
func (v *rights) asks() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.waits != nil && v.denied != v.waits.Digest()
}

// shown are the changes for the panel.
func (v *rights) shown() (list []Confirmation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c := v.waits; c != nil && v.denied != c.Digest() {
		list = append(list, Confirmation{ID: confirmConfig, Kind: confirmConfig, Change: c, Digest: c.Digest(), From: "config.json", Asked: v.since.UTC()})
	}
	if c := v.started; c != nil {
		list = append(list, Confirmation{ID: confirmStart, Kind: confirmStart, Change: c, Digest: c.Digest(), From: "config.json, or the environment", Asked: v.began.UTC()})
	}
	return list
}

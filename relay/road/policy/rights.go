package policy

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// rightsSwitch is the switch with keptRights.
const rightsSwitch = "rights"

// keptRights is the part of rights that is stored.
type keptRights struct {
	InEffect config.Rights  `json:"inEffect"`         // of the configuration, when this was written
	Before   *config.Rights `json:"before,omitempty"` // a start let agents do more than this, and nobody has seen it
	Undone   *config.Rights `json:"undone,omitempty"` // what a person went back to, or left it at; more waits for them
}

// rights compares what the configuration lets agents do with what it did before. What a person or a program writes into
// config.json while the relay runs is in effect at once where it forbids more, and waits for the person where it allows
// more. What is there at a start is in effect, and is shown to them. It never changes: a change makes another one.
type rights struct {
	keptRights
	wanted  config.Config // as it was read last
	last    config.Rights // in effect before this start
	known   bool          // there was an earlier start
	waits   *Change
	since   time.Time // when waits came
	denied  string    // digest of what waits, when the person said no to it
	started *Change
	began   time.Time

	olderRules bool // those of the last start had one order, in which sites were compared as they were written
}

// readRights reads what was in effect last. What a person took back then stays so.
func (p *Policy) readRights(ctx context.Context) error {
	text, err := p.options.Store.Switch(ctx, rightsSwitch)
	if err != nil {
		return err
	}
	v := &rights{wanted: p.options.Config, began: time.Now()}
	if v.known = text != "" && json.Unmarshal([]byte(text), &v.keptRights) == nil; !v.known {
		v.keptRights = keptRights{}
	}
	v.keptRights = completed(v.keptRights, &v.wanted)
	model, err := p.options.Store.Switch(ctx, modelSwitch)
	if err != nil {
		return err
	}
	if !v.known && p.options.Used && model == "" { // of a program that wrote no rights down
		v.known, v.InEffect = true, config.RightsOf(&v.wanted)
		v.InEffect.Permissions = maps.Clone(v.InEffect.Permissions)
		delete(v.InEffect.Permissions, builtInDefault)
		v.InEffect = aged(v.InEffect, false)
	}
	v.olderRules = v.known && model == ""
	v.last, v.InEffect = v.InEffect, p.rightsOf(&v.wanted)
	if v.Undone != nil {
		v.InEffect = *v.Undone
	}
	p.rights.Store(v)
	return nil
}

// Config is the configuration as far as it may be in effect.
func (p *Policy) Config() config.Config {
	v := p.rights.Load()
	return v.wanted.Within(v.InEffect)
}

// Bounded is what of a configuration that was read again may be in effect now; the rest waits. Its rules are for
// [Policy.Configure] to bound.
func (p *Policy) Bounded(next config.Config) config.Config {
	return next.Within(p.rights.Load().InEffect)
}

// Start compares this start with the last one, once all tools are known.
func (p *Policy) Start(ctx context.Context) error {
	return p.change(ctx, func(ctx context.Context) error {
		v := *p.rights.Load()
		if err := p.collectUnacknowledged(ctx, v.known || p.options.Used); err != nil {
			return err
		}
		p.shipped = p.shippedNow()
		inEffect := p.rightsOf(&v.wanted)
		v.holdOtherwiseSpelled(inEffect)
		if v.Undone != nil {
			if c := p.widening("The configuration allows more than is in effect", *v.Undone, inEffect); c != nil {
				v.waits, v.since, inEffect = c, v.began, p.held(&v.wanted, v.Undone)
			} else {
				v.Undone = nil
			}
		}
		p.compareStarts(&v, inEffect)
		return p.keep(ctx, &v)
	})
}

// collectUnacknowledged collects the changes that the person has to acknowledge, besides those of the configuration.
func (p *Policy) collectUnacknowledged(ctx context.Context, upgraded bool) error {
	if err := p.tellNarrowed(ctx, upgraded); err != nil {
		return err
	}
	carried, err := p.readNarrowed(ctx)
	if err != nil {
		return err
	}
	updated, err := p.tellUpdated(ctx)
	if err != nil {
		return err
	}
	l := *p.toAcknowledge()
	l.carried, l.updated = carried, updated
	p.unacknowledged.Store(&l)
	p.announceUnacknowledged()
	return nil
}

// compareStarts shows what this start lets agents do that the last one, or one before it that nobody has seen, did not.
func (p *Policy) compareStarts(v *rights, inEffect config.Rights) {
	before := v.last
	if v.Before != nil {
		before = *v.Before
	}
	v.InEffect = inEffect
	if !v.known {
		return
	}
	v.started = p.widening("Since the last start, agents may do more", before, inEffect)
	if v.started == nil {
		v.Before = nil
		return
	}
	v.Before = &before
	p.options.Log.Warn().Str("change", v.started.String()).
		Msg("this start lets agents do more than the last one; tabrelay config undo takes that back")
	p.RecordWidening(call.Session{Via: "config"}, v.started, "in effect since the start", "config")
}

// widening is what the configuration after lets agents do and before does not; nil: nothing.
func (p *Policy) widening(title string, before, after config.Rights) *Change {
	return rightsWidening(title, &before, &after, p.widerRules(&before, &after))
}

// rightsWidening is Policy.widening where it is known whether the rules allow more.
func rightsWidening(title string, before, after *config.Rights, widerRules bool) *Change {
	grown := after.Grown(*before)
	if widerRules {
		grown = append(grown, loosened(before, after)...)
	}
	if len(grown) == 0 {
		return nil
	}
	return NewChange(title, "", grown...)
}

// keep stores rights for the next start and puts them into effect, even if storing fails. Only changes call it.
func (p *Policy) keep(ctx context.Context, v *rights) error {
	p.rights.Store(v)
	text, err := json.Marshal(v.keptRights)
	if err == nil {
		err = p.options.Store.SetSwitch(ctx, rightsSwitch, string(text))
	}
	if err != nil {
		p.options.Log.Warn().Err(err).
			Msg("what the configuration allows was not written down; the next start compares with what was")
	}
	p.changed(TopicApprovals)
	return err
}

// Configure takes over a configuration that was read again: what it forbids is forbidden at once, what it allows beyond
// what was confirmed waits for the person. It reports whether its rules are others.
func (p *Policy) Configure(ctx context.Context, next config.Config) (otherRules bool, err error) {
	err = p.change(ctx, func(ctx context.Context) error {
		v := *p.rights.Load()
		next.Permissions = withBase(next.Permissions, shippedBase)
		before, wanted := v.InEffect, p.rightsOf(&next)
		v.wanted = next
		bound := v
		p.rights.Store(&bound) // with the policy, which no person confirms
		otherRules = p.configureRules(next.Permissions)
		bounded := next.Within(before)
		v.InEffect = p.rightsOf(&bounded)
		v.InEffect.Permissions, v.InEffect.Unconfirmed = p.rules.Load().configured()
		if v.Before != nil && v.started != nil {
			if v.started = p.widening(v.started.Title, *v.Before, v.InEffect); v.started == nil {
				v.Before = nil
			}
		}
		rulesWait := len(v.InEffect.Unconfirmed) > 0
		c := rightsWidening("config.json was changed to let agents do more", &v.InEffect, &wanted, rulesWait)
		switch {
		case c == nil:
			v.waits, v.denied, v.Undone = nil, "", nil
			v.InEffect.Permissions, v.InEffect.Unconfirmed = next.Permissions, nil
			p.confirmRules() // no more than what was confirmed before is left
		case v.waits == nil || v.waits.Digest() != c.Digest():
			v.waits, v.since = c, time.Now()
			p.announceWaiting(c)
		}
		_ = p.keep(ctx, &v) // it is in effect, and the failure was logged
		return nil
	})
	return otherRules, err
}

// DropPlugin forgets what a removed plugin was bounded to: that it was off is no bound for the next one of its name,
// which a person reviews.
func (p *Policy) DropPlugin(name string) error {
	return p.change(context.Background(), func(ctx context.Context) error {
		v := *p.rights.Load()
		v.InEffect.Plugins = maps.Clone(v.InEffect.Plugins) // what was loaded never changes
		delete(v.InEffect.Plugins, name)
		_ = p.keep(ctx, &v) // it is in effect, and the failure was logged
		return nil
	})
}

// AllowSites takes down that a person let settings of a plugin name these sites, by setting. Nothing that is in effect
// changes before the configuration is read again. Sites that are in effect were not asked about: what a start has
// widened is still to be looked at.
func (p *Policy) AllowSites(name string, sites map[string][]string) error {
	return p.change(context.Background(), func(ctx context.Context) error {
		v := *p.rights.Load()
		before := v.InEffect.Plugins[name].Sites
		v.InEffect = v.InEffect.WithSites(name, sites)
		for _, earlier := range []**config.Rights{&v.Before, &v.Undone} { // which what is said now is later than
			if *earlier == nil {
				continue
			}
			said := map[string][]string{}
			for setting, now := range sites {
				known := (*earlier).Plugins[name].Sites[setting]
				asked := slices.DeleteFunc(slices.Clone(now), func(site string) bool {
					return slices.Contains(before[setting], site) || slices.Contains(known, site)
				})
				said[setting] = append(slices.Clone(known), asked...)
			}
			r := (*earlier).WithSites(name, said)
			*earlier = &r
		}
		_ = p.keep(ctx, &v) // it is in effect, and the failure was logged
		return nil
	})
}

// announceWaiting tells that a change of the configuration waits for the person.
func (p *Policy) announceWaiting(c *Change) {
	message := "A change of the configuration lets agents do more, and waits for you (in the side panel, or: " +
		"tabrelay config apply): " + c.String()
	p.options.Log.Warn().Msg(message)
	if p.options.Notice != nil {
		p.options.Notice(message)
	}
	p.RecordWidening(call.Session{Via: "config"}, c, "waits", ByRelay)
}

// configureRules replaces the rules of the configuration and reports whether they are others. What waits is bound by
// what was in effect, which earlier changes may have narrowed: to take one of those back is to allow more, too.
func (p *Policy) configureRules(next map[string]map[string]string) (changed bool) {
	t := p.rules.Load()
	same := func(a, b map[string]string) bool { return maps.Equal(a, b) }
	rules := p.table(t.personal, next, t.paused)
	if m := rules.managed; m != nil && !m.same(t.managed) {
		p.revokeManaged(m)
	}
	if maps.EqualFunc(t.config, next, same) {
		if changed = !t.managed.same(rules.managed); changed {
			p.putInEffect(rules.within(t.bounds()...))
		}
		return changed
	}
	if p.widens(t, rules) {
		p.boundRules(rules, append([]map[string]map[string]string{t.config}, t.bounds()...))
	}
	p.putInEffect(rules)
	return true
}

// boundRules limits rules by those of earlier configurations that forbid something.
func (p *Policy) boundRules(rules *table, earlier []map[string]map[string]string) {
	bound := func(by []map[string]map[string]string) *table {
		return p.table(rules.personal, rules.config, rules.paused).within(by...)
	}
	for i := 0; i < len(earlier); {
		if others := slices.Delete(slices.Clone(earlier), i, i+1); !p.widens(bound(earlier), bound(others)) {
			earlier = others
		} else {
			i++
		}
	}
	rules.within(earlier...)
}

// confirmRules puts what waits of the rules of the configuration into effect.
func (p *Policy) confirmRules() {
	if t := p.rules.Load(); t.older != nil {
		p.putInEffect(p.table(t.personal, t.config, t.paused))
	}
}

// held bounds a configuration by what a person left it at, and returns what is in effect of it: what it allows beyond
// that waits, and what it forbids is forbidden.
func (p *Policy) held(wanted *config.Config, left *config.Rights) config.Rights {
	t := p.rules.Load()
	rules := p.table(t.personal, t.config, t.paused)
	p.boundRules(rules, left.Rules())
	p.putInEffect(rules)
	bounded := wanted.Within(*left)
	inEffect := p.rightsOf(&bounded)
	inEffect.Permissions, inEffect.Unconfirmed = rules.configured()
	return inEffect
}

// answerRights is what the person says about what waits of the configuration, or about what the last start brought.
func (p *Policy) answerRights(ctx context.Context, kind, profileID string, d call.Decision) error {
	undone, reconfigured := false, false
	err := p.change(ctx, func(ctx context.Context) error {
		v := *p.rights.Load()
		c := v.change(kind)
		switch {
		case c == nil:
			return ErrEnded
		case d.Allow && d.By != ByPanel && p.options.PanelsOpen != nil && p.options.PanelsOpen():
			return ErrPanel
		case d.Allow && d.Digest != c.Digest():
			return ErrStale
		}
		said := ""
		switch {
		case kind == ChangeStart && d.Allow:
			said, v.started, v.Before = "kept", nil, nil
		case kind == ChangeStart:
			said, undone, reconfigured = "undone", true, true
			p.undo(&v)
		case d.Allow:
			said, reconfigured = "allowed", true
			v.waits, v.denied, v.Undone, v.InEffect = nil, "", nil, p.rightsOf(&v.wanted)
			p.confirmRules()
		default: // it still waits, also after the next start, but is not asked about any more
			before := v.InEffect
			said, v.denied, v.Undone = "denied", c.Digest(), &before
		}
		if !d.Allow || profileID != "" { // what Confirm asked about is recorded already
			p.RecordWidening(person(d.By), c, said, d.By)
		}
		_ = p.keep(ctx, &v) // it is in effect, and the failure was logged
		return nil
	})
	if reconfigured && p.options.Reconfigured != nil {
		p.options.Reconfigured(undone)
	}
	return err
}

// person is whoever answers, as a session.
func person(by string) call.Session {
	if by == ByPanel {
		return call.Session{Client: ByPanel, Via: call.ViaPanel}
	}
	return call.Session{Client: config.LocalClient, Via: call.ViaSocket}
}

// undo puts the rights back into effect that were in effect before the last start widened them. What the configuration
// allows beyond them waits, as already denied.
func (p *Policy) undo(v *rights) {
	before := v.Before.Without(p.shipped)
	v.waits = p.widening("The configuration allows more than is in effect", before, p.rightsOf(&v.wanted))
	if v.since, v.started = time.Now(), nil; v.waits != nil {
		v.denied = v.waits.Digest() // by undoing it: it is not asked about again
	}
	v.keptRights = keptRights{InEffect: p.held(&v.wanted, &before), Undone: &before}
}

// change is what waits, or what the last start brought; nil: nothing.
func (v *rights) change(kind string) *Change {
	if kind == ChangeStart {
		return v.started
	}
	return v.waits
}

// Unapplied is what of the configuration waits, in one line; empty: nothing.
func (p *Policy) Unapplied() string { return p.rights.Load().differences(ChangeConfig) }

// UnappliedKeys are the settings of the configuration that wait.
func (p *Policy) UnappliedKeys() (keys []string) {
	if c := p.rights.Load().waits; c != nil {
		for _, d := range c.Differences {
			keys = append(keys, d.What)
		}
	}
	return keys
}

// Widened is what the last start brought and nobody has seen, in one line; empty: nothing.
func (p *Policy) Widened() string { return p.rights.Load().differences(ChangeStart) }

func (v *rights) differences(kind string) string {
	if c := v.change(kind); c != nil {
		return c.difference()
	}
	return ""
}

// shown are the changes for the panel.
func (v *rights) shown() (list []PendingChange) {
	if c := v.waits; c != nil && v.denied != c.Digest() {
		list = append(list, PendingChange{
			ID: ChangeConfig, Kind: ChangeConfig, Change: c, Digest: c.Digest(), From: "config.json",
			Asked: v.since.UTC(),
		})
	}
	if c := v.started; c != nil {
		list = append(list, PendingChange{
			ID: ChangeStart, Kind: ChangeStart, Change: c, Digest: c.Digest(),
			From:  "config.json, the environment, or an update of tabrelay",
			Asked: v.began.UTC(),
		})
	}
	return list
}

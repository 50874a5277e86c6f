package policy

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// managed is what an administrator's policy says about rules and sites. It bounds the rules of everybody else: it
// allows nothing that these do not. It never changes; a policy that is read again makes another one.
type managed struct {
	by    *config.Managed
	rules *table
	allow []string // patterns of sites; nil: all
	deny  []string
	sites match.Rule
}

// everySite has the patterns of all sites.
var everySite = []string{"*://*/*"}

func newManaged(by *config.Managed) *managed {
	if by == nil {
		return nil
	}
	m := &managed{by: by, rules: newTable(nil, by.Rules, false), allow: by.Sites.Allow, deny: by.Sites.Deny}
	m.rules.base = base{call.Auto, call.Auto} // where it says nothing, it does not matter
	if m.allow == nil {
		m.allow = everySite
	}
	m.sites, _ = match.NewRule(m.allow, m.deny) // they were checked when the file was read; the zero rule has no site
	return m
}

// boundsSites reports whether it says anything about sites.
func (m *managed) boundsSites() bool { return m.by.Sites.Allow != nil || len(m.deny) > 0 }

// excludes reports whether agents may not use a site at all. What has no address may be a site's that they may not.
func (m *managed) excludes(origin string) bool {
	isSite := strings.HasPrefix(origin, "http") || origin == "null"
	return m.boundsSites() && isSite && !m.sites.Matches(origin+"/")
}

// resolve is what the policy says about an access. Without a rule of it the mode is auto, and its source empty.
func (m *managed) resolve(a *call.Access, now int64) verdict {
	if a.At != nil && m.excludes(a.At.Origin) {
		return verdict{mode: call.Off, from: fromPolicy, rule: key{a.At.Origin, ""}, level: onManagedSites}
	}
	if !a.BuiltIn && a.Plugin != nobody && !m.by.PermitsName(a.Plugin) {
		return verdict{mode: call.Off, from: fromPolicy, rule: key{a.Plugin, ""}, level: onManagedPlugins}
	}
	v := m.rules.resolveLayer(a, now)
	if v.from == fromConfig {
		v.from = fromPolicy
	}
	return v
}

// bound is a verdict as the policy leaves it.
func (m *managed) bound(v verdict, a *call.Access, now int64) verdict {
	if m == nil {
		return v
	}
	w := m.resolve(a, now)
	bounded := v.within(w)
	bounded.fixed = w.from == fromPolicy && w.mode != call.Auto && bounded.mode == w.mode
	return bounded
}

// managed is the policy that is in effect; nil: there is none.
func (p *Policy) managed() *config.Managed {
	if v := p.rights.Load(); v != nil {
		return v.wanted.Managed
	}
	return nil
}

// ManagedFile is the file of the policy that is in effect; empty: there is none.
func (p *Policy) ManagedFile() string {
	if m := p.managed(); m != nil {
		return m.File
	}
	return ""
}

// Manage puts another policy of the administrator into effect, whatever becomes of the configuration that is read with
// it: nobody delays a policy with a configuration that cannot be read.
func (p *Policy) Manage(ctx context.Context, m *config.Managed) error {
	return p.change(ctx, func(context.Context) error {
		v := *p.rights.Load()
		var err error
		if v.wanted, err = v.wanted.Under(m); err != nil {
			p.options.Log.Warn().Err(err).Msg("the settings of the policy do not go with those in effect, and wait " +
				"for a configuration that they go with; its rules are in effect")
		}
		p.rights.Store(&v)
		p.configureRules(p.rules.Load().config)
		return nil
	})
}

// table makes the table of the rules of a person and of a configuration, as the policy bounds them.
func (p *Policy) table(personal []call.Rule, rules map[string]map[string]string, paused bool) *table {
	t := newTable(personal, rules, paused)
	t.managed = newManaged(p.managed())
	return t
}

// refuseLooser is the error of a rule that allows more than the policy does, wherever it is about; nil: it has an
// effect somewhere, or forbids.
func (p *Policy) refuseLooser(r call.Rule) error {
	m := p.rules.Load().managed
	if m == nil || r.Mode == call.Off {
		return nil
	}
	var known []call.Access
	if p.options.Tools != nil {
		known = p.options.Tools()
	}
	now, k := time.Now().UnixNano(), keyOf(r.Target, r.Client)
	probe := newTable([]call.Rule{{Target: r.Target, Client: r.Client, Mode: r.Mode}}, nil, false)
	for a := range accesses(known, m.rules, probe) {
		if concerns(k, &a) && permissive[m.resolve(&a, now).mode] >= permissive[r.Mode] {
			return nil
		}
	}
	return &config.ManagedError{What: ruleName(r.Target, r.Client) + " may not be " + string(r.Mode) +
		": a stricter rule is set", Managed: m.by}
}

// revokeManaged revokes the grants that the rules of another policy are about, so that these take effect at once.
func (p *Policy) revokeManaged(m *managed) {
	for k, c := range m.rules.cells {
		if c.config != call.Auto {
			p.grants.revokeUnder(k)
		}
	}
}

// same reports whether two policies say the same about rules, sites and plugins.
func (m *managed) same(other *managed) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.by.File == other.by.File && reflect.DeepEqual(m.by.Rules, other.by.Rules) &&
		reflect.DeepEqual(m.by.Sites, other.by.Sites) && reflect.DeepEqual(m.by.Plugins, other.by.Plugins) &&
		m.by.Contact == other.by.Contact
}

// list are the rules of the policy as a person sees them.
func (m *managed) list() (rules []Rule) {
	if m == nil {
		return nil
	}
	for target, modes := range m.by.Rules {
		for client, mode := range modes {
			if client == everyClient {
				client = ""
			}
			rules = append(rules, Rule{Target: target, Client: client, Mode: call.Mode(mode), From: fromPolicy})
		}
	}
	slices.SortFunc(rules, compareRules)
	return rules
}

// owns reports whether the policy has a rule about exactly this.
func (m *managed) owns(target, client string) bool {
	return m != nil && m.rules.cells[keyOf(target, client)].config != ""
}

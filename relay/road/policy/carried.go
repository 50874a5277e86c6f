package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// Rules once had one order: client and tool, tool, client and plugin, plugin, origin, client, default; the first that
// matched decided (the old order). Rules of a database from then are migrated so that nothing more is allowed than
// before, and the person is told what is allowed less.

// modelSwitch is the switch with the state of the migration: empty, carried or told.
const (
	modelSwitch    = "rules-model"
	narrowedSwitch = "rules-narrowed" // what the person is told, as JSON; empty: nothing
	modelCarried   = "carried"
	modelTold      = "told"
)

// carryOver migrates the rules of the person so that they allow no more than in the old order. There a rule for all
// clients that switched an origin off took precedence over one for a single client, which is therefore off now.
func (p *Policy) carryOver(ctx context.Context, rules []call.Rule, layers ...map[string]map[string]string) (
	carried []call.Rule, err error,
) {
	model, err := p.options.Store.Switch(ctx, modelSwitch)
	if err != nil || model != "" {
		return rules, err
	}
	for _, r := range masked(rules, layers) {
		if err := p.options.Store.SetRule(ctx, r); err != nil {
			return nil, err
		}
		rules = append(slices.DeleteFunc(rules, func(o call.Rule) bool {
			return o.Target == r.Target && o.Client == r.Client
		}), r)
		p.recordRule(string(r.Mode), ByRelay, aboutRule(r.Target, r.Client)+" set to off, as it had no effect before: "+
			r.Target+" is off for all")
	}
	return rules, p.options.Store.SetSwitch(ctx, modelSwitch, modelCarried)
}

// masked are the rules that switch an origin off for single clients which have another rule about it, wherever a rule
// switches it off for all.
func masked(rules []call.Rule, layers []map[string]map[string]string) (list []call.Rule) {
	off, others := map[string]bool{}, map[key]bool{}
	note := func(target, client string, mode call.Mode) {
		target = Spelled(target)
		if tool, origin := splitTarget(target); tool != "" || origin == "" {
			return
		}
		if client == "" {
			off[target] = off[target] || mode == call.Off
			return
		}
		others[key{target, client}] = true
	}
	for _, r := range rules {
		note(r.Target, r.Client, r.Mode)
	}
	for _, layer := range layers {
		for target, modes := range layer {
			for client, mode := range modes {
				note(target, strings.TrimSuffix(client, everyClient), call.Mode(mode))
			}
		}
	}
	for k := range others {
		if off[k.target] {
			list = append(list, call.Rule{Target: k.target, Client: k.client, Mode: call.Off, By: ByRelay,
				Created: time.Now().UTC().Truncate(time.Second)})
		}
	}
	slices.SortFunc(list, func(a, b call.Rule) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Client, b.Client))
	})
	return list
}

// modeInOldOrder is the mode of an access in the old order.
func (t *table) modeInOldOrder(a *call.Access, now int64) call.Mode {
	mode := t.ownModeInOldOrder(a, now)
	if t.older != nil {
		return stricter(t.older.modeInOldOrder(a, now), mode)
	}
	return mode
}

func (t *table) ownModeInOldOrder(a *call.Access, now int64) call.Mode {
	client := a.Session.Client
	for _, target := range []string{a.Tool, a.Plugin} {
		if v := t.ruleFor(now, onTool, target, client); v.mode != "" {
			return v.mode
		}
	}
	rest := t.defaultVerdict(a, now)
	if needsNoPermission(a) {
		if rest.mode == call.Off {
			return call.Off
		}
		return call.Auto
	}
	if a.At != nil {
		if general, _ := t.cells[key{a.At.Origin, ""}].at(now); general == call.Off {
			return call.Off
		}
		if v := t.ruleFor(now, onSite, a.At.Origin, client); v.mode != "" {
			return v.mode
		}
	}
	return rest.mode
}

// tellNarrowed finds out, once all tools are known, what the rules allowed in the old order and no longer do.
func (p *Policy) tellNarrowed(ctx context.Context, upgraded bool) error {
	model, err := p.options.Store.Switch(ctx, modelSwitch)
	if err != nil || model == modelTold {
		return err
	}
	if t := p.rules.Load(); upgraded && model == modelCarried {
		narrowed := p.effects(t, func(a *call.Access, now int64) (call.Mode, call.Mode) {
			if a.Session.Guest { // there were none
				return call.Off, call.Off
			}
			return t.modeInOldOrder(a, now), t.resolveBounded(a, now).mode
		}, func(before, after call.Mode) bool { return permissive[after] < permissive[before] })
		if len(narrowed) > 0 {
			text, _ := json.Marshal(narrowed) // strings always encode
			if err := p.options.Store.SetSwitch(ctx, narrowedSwitch, string(text)); err != nil {
				return err
			}
			p.RecordWidening(call.Session{Via: "config"}, NewChange("Rules are applied differently", "", narrowed...),
				"carried over", ByRelay)
		}
	}
	return p.options.Store.SetSwitch(ctx, modelSwitch, modelTold)
}

// readNarrowed reads what the person was not told yet.
func (p *Policy) readNarrowed(ctx context.Context) (*Change, error) {
	text, err := p.options.Store.Switch(ctx, narrowedSwitch)
	var list []call.Difference
	if err != nil || json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		return nil, err
	}
	c := NewChange("Rules about tools and rules about sites both count now, and the stricter one wins. Less is "+
		"allowed "+
		"than before", "", list...)
	return c.WithText("Where a site is off, it is off for every tool. To allow one tool on one site, make a rule "+
		"such as",
		"tabrelay permit set mediawiki__edit_page@https://wiki.example.org auto"), nil
}

// holdOtherwiseSpelled lets rules of the configuration wait for the person that had no effect in the one order, because
// their site is not spelled as a browser does it (https://Shop.example:443). What they forbid is forbidden.
func (v *rights) holdOtherwiseSpelled(inEffect config.Rights) {
	if !v.olderRules {
		return
	}
	if v.Undone == nil {
		v.Undone = &inEffect
	}
	left := *v.Undone
	otherwise := func(target string, _ map[string]string) bool { return Spelled(target) != target }
	left.Permissions, left.Unconfirmed = maps.Clone(left.Permissions), slices.Clone(left.Unconfirmed)
	maps.DeleteFunc(left.Permissions, otherwise)
	for i, rules := range left.Unconfirmed {
		left.Unconfirmed[i] = maps.Clone(rules)
		maps.DeleteFunc(left.Unconfirmed[i], otherwise)
	}
	v.Undone = &left
}

// layersOf are the configurations that earlier starts knew of.
func layersOf(v *rights) (layers []map[string]map[string]string) {
	for _, r := range []*config.Rights{&v.last, v.Before, v.Undone} {
		if r != nil {
			layers = append(layers, r.Rules()...)
		}
	}
	return layers
}

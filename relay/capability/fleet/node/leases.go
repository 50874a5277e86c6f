package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// openLeases has the profiles of this node leased, where its owner wants that.
func (n *Node) openLeases() {
	if !n.Exclusive {
		return
	}
	n.leased = make(chan struct{}, 1)
	o := n.Lease
	o.Turn = func(reply string) {
		go n.reply(reply, wire.Reply{Kind: wire.Turn}, nil) // the table's lock is held here
	}
	o.Changed = func() {
		select {
		case n.leased <- struct{}{}:
		default:
		}
		n.Changed()
	}
	n.leases = lease.New(o)
	n.leases.Restore(n.Kept)
}

// keepLeases keeps what the next life is to know, until the node is closed.
func (n *Node) keepLeases() {
	for {
		select {
		case <-n.leased:
			n.Keep(n.leases.Keep())
		case <-n.base.Done():
			return
		}
	}
}

// closeLeases keeps the leases as they are, for the node's next life.
func (n *Node) closeLeases() {
	if n.leases != nil {
		n.leases.Close()
		n.Keep(n.leases.Keep())
	}
}

// leaseEntries are the leases as the directory has them.
func (n *Node) leaseEntries() (list []wire.Lease) {
	if n.leases == nil {
		return nil
	}
	for _, s := range n.leases.List() {
		list = append(list, wire.Lease{Profile: s.Profile, Holder: s.Holder, Waiting: len(s.Waiting)})
	}
	return list
}

// admitted is a call that may begin.
type admitted struct {
	arguments json.RawMessage
	profile   string             // by its id, where it is leased
	left      func(*fault.Error) // to be called with what the call ended with
}

// admit lets a call begin that needs no lease, or whose session has it. Where it does not, the gateway was told why, or
// how many are before it.
func (n *Node) admit(s call.Session, reply string, r *wire.Request, arguments json.RawMessage) (a admitted, ok bool) {
	a = admitted{arguments: arguments, left: func(*fault.Error) {}}
	if n.leases == nil {
		return a, true
	}
	t, there := n.Relay.Find(r.Tool)
	if !there || !lends(t) || t.Plugin == nil { // nothing of it runs in a page, or at all
		return a, true
	}
	at, failure := n.profileOf(s, t, arguments)
	if failure != nil {
		n.calls.refuse(reply, r, failure)
		return a, false
	}
	switch v := n.leases.Enter(at.id, at.label, lease.Holder{Session: s.ID, Client: s.Client}, reply); {
	case v.Held:
		return admitted{withProfile(arguments, at.id), at.id, func(f *fault.Error) {
			n.leases.Leave(at.id, s.ID, f == nil || f.Outcome != fault.NotExecuted)
		}}, true
	case v.Lost != "":
		lost := refused(fault.TabOwned, "Others may have changed its pages meanwhile: look at the page before you go "+
			"on. The next call takes the profile again, or waits for its turn.", "This session does not hold the "+
			"browser profile %s of the node %s any more: %s", at.label, n.Name, v.Lost)
		fault.WithRetryable(false)(lost)
		n.calls.refuse(reply, r, lost)
	case v.Full:
		full := fmt.Sprintf("The browser profile %s of the node %s is used by %s, and %d sessions wait for it already "+
			"(fleet.lease.queue)", at.label, n.Name, v.By, n.Lease.Queue)
		n.calls.refuse(reply, r, fault.New(fault.Overloaded, full, fault.WithRetryAfter(5*time.Second)))
	default:
		n.reply(reply, wire.Reply{Kind: wire.Waits, Before: v.Before,
			Lease: &wire.Lease{Profile: at.label, Holder: v.By}}, nil)
	}
	return a, false
}

// profile is a browser profile of this node.
type profile struct{ id, label string }

// profileOf is the one profile in which a call can run, so that no other one's lease is needed.
func (n *Node) profileOf(s call.Session, t *registry.Tool, arguments json.RawMessage) (p profile, f *fault.Error) {
	if !t.TakesProfile {
		return p, refused(fault.ConfigError, "Ask the owner of the node: a plugin whose tool calls the argument "+
			"otherwise can be called.", "%s has an argument profile of its own, so the node %s, whose profiles are "+
			"leased, cannot tell in which one it would run", t.Name, n.Name)
	}
	var here []profile
	for _, tab := range n.Relay.Tabs() {
		if one := (profile{tab.ProfileID, tab.Profile}); !slices.Contains(here, one) {
			here = append(here, one)
		}
	}
	held, label, holds := n.leases.Held(s.ID)
	if holds && !slices.ContainsFunc(here, func(p profile) bool { return p.id == held }) { // it may be on its way back
		here = append(here, profile{held, label})
	}
	wanted, named := profileArgument(arguments)
	found := here
	if named {
		found = slices.DeleteFunc(slices.Clone(here),
			func(p profile) bool { return p.id != wanted && p.label != wanted })
	} else if holds {
		found = []profile{{held, label}}
	}
	var names []string
	for _, one := range here {
		names = append(names, one.label)
	}
	choices := strings.Join(names, ", ")
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(here) == 0:
		return p, refused(fault.ProfileNotConnected, "Repeat the call in a moment; the person there may have to start "+
			"the browser.", "No browser is connected to the node %s", n.Name)
	case len(found) == 0:
		return p, refused(fault.ProfileNotConnected, "Pass one of these as profile.", "The node %s has no profile %q; "+
			"there is: %s", n.Name, fault.Excerpt(wanted), choices)
	case named:
		return p, refused(fault.ValidationError, "The owner of the node can give one of them another name, in its "+
			"panel.", "%d profiles of the node %s are called %q", len(found), n.Name, fault.Excerpt(wanted))
	}
	return p, refused(fault.ValidationError, "Pass profile with one of these; ask the person which is meant if you do "+
		"not know.", "The profiles of the node %s are leased one by one, and the call does not say which it means: %s",
		n.Name, choices)
}

func refused(code fault.Code, next, format string, args ...any) *fault.Error {
	return fault.New(code, fmt.Sprintf(format, args...), fault.WithOutcome(fault.NotExecuted), fault.WithHint(next))
}

const profileMember = "profile"

// profileArgument is the profile that a call names.
func profileArgument(arguments json.RawMessage) (name string, ok bool) {
	members, _ := rawjson.Members(arguments)
	return rawjson.Text(rawjson.Get(members, profileMember))
}

// withProfile has a call run in this very profile, whatever its arguments say of one.
func withProfile(arguments json.RawMessage, id string) json.RawMessage {
	members, _ := rawjson.Members(arguments)
	members = slices.DeleteFunc(slices.Clone(members),
		func(m rawjson.Member) bool { return m.Name == profileMember })
	return rawjson.Join(append(members, rawjson.Make(profileMember, rawjson.MustEncode(id))))
}

// errTaken is the cause of the end of calls whose lease was ended.
var errTaken = errors.New("the owner of the node has ended the lease of the browser profile")

// EndLeases ends the lease of a profile, or of all where that is empty, and the calls that run under it. It returns who
// held them.
func (n *Node) EndLeases(profile, why string) (holders []string) {
	if n.leases == nil {
		return nil
	}
	for id, h := range n.leases.End(profile, why) {
		// Not those of who has the profile by now.
		n.calls.end(func(one *running) bool { return one.profile == id && one.session.ID == h.Session }, errTaken)
		holders = append(holders, h.Client)
	}
	slices.Sort(holders)
	return holders
}

// Ended are how many leases have ended, by why.
func (n *Node) Ended() map[string]int {
	if n.leases == nil {
		return nil
	}
	return n.leases.Ended()
}

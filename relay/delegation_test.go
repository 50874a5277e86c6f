package relay

import (
	"sync"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/delegation"
)

// delegations are those of the relays that tests have made, by the relay's store.
var delegations sync.Map

func init() {
	for i, one := range capabilities {
		if one.Name == delegation.Capability.Name {
			capabilities[i].New = func(core capability.Core) capability.Attachment {
				d := delegation.New(core)
				delegations.Store(core.Store, d)
				return d.Running()
			}
		}
	}
}

// delegationOf is the delegation of a relay.
func delegationOf(r *Relay) *delegation.Delegation {
	d, _ := delegations.Load(r.store)
	return d.(*delegation.Delegation)
}

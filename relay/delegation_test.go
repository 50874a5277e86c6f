package relay

import (
	"sync"

	"tabrelay/relay/agent"
	"tabrelay/relay/capability"
)

// delegations are those of the relays that tests have made, by the relay's store.
var delegations sync.Map

func init() {
	for i, one := range capabilities {
		if one.Name == agent.Capability.Name {
			capabilities[i].New = func(core capability.Core) capability.Running {
				d := agent.New(core)
				delegations.Store(core.Store, d)
				return d.Running()
			}
		}
	}
}

// delegationOf is the delegation of a relay.
func delegationOf(r *Relay) *agent.Delegation {
	d, _ := delegations.Load(r.store)
	return d.(*agent.Delegation)
}

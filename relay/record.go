package relay

import "tabrelay/relay/call"

// record writes an entry into the audit log. It does not wait for the disk, and may be called with any lock held.
func (r *Relay) record(e call.Entry) {
	_ = e // until the log is kept
}

//go:build unix

package main

import (
	"strconv"

	"golang.org/x/sys/unix"

	"tabrelay/relay/agent/client"
)

// terminalSession is the session of the terminal that controls this process: commands that are run one after the other
// in a shell have its leader in common, which is mostly that shell. Empty where no terminal controls this process.
func terminalSession() string {
	if !hasTerminal() {
		return ""
	}
	leader, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	name := client.TerminalSession + strconv.Itoa(leader)
	if began := beginning(leader); began != "" {
		name += "." + began
	}
	return name
}

package main

// terminalSession is empty: nothing tells the consoles of this system apart for longer than a process id is one's own.
func terminalSession() string { return "" }

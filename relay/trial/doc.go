// Package trial runs a plugin's tools against fixtures: a call, the requests that it may make with what the site
// answered, and what has to come of it. Without a browser the handler runs in an engine that has requests, addresses
// and timers but no page; with one, in a page made of the fixture's HTML.
package trial

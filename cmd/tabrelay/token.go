package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/road/fault"
)

// tokenVariable makes commands those of the client that has this token. A flag for it would show in the list of
// processes.
const tokenVariable = "TABRELAY_TOKEN"

// clientCommands are the commands that a client has: those that ask the relay as it, and those that ask it nothing. All
// others are the person's.
var clientCommands = []string{"call", "run", "tools", "events", "dead-letters", "skill", "help", "completion",
	cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// asClient has the requests of a command come from the client whose token the environment has, if it has one. What is
// no token, or none any more, never makes a command the person's.
func (a *app) asClient(cmd *cobra.Command) error {
	token, given := os.LookupEnv(tokenVariable)
	if !given {
		return nil
	}
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	clients := !top.HasParent() || slices.Contains(clientCommands, top.Name())
	empty := strings.TrimSpace(token) == ""
	switch {
	case !clients:
		return failed("%s is set, so this command would be a client's, and tabrelay %s is for the person",
			tokenVariable, top.Name()).hinting("ask the person to run it in a terminal of their own")
	case empty:
		return usage("%s is set and empty", tokenVariable).hinting("give it the token of a client: tabrelay " +
			"clients add NAME prints one")
	case strings.ContainsFunc(strings.TrimSpace(token), unicode.IsControl):
		return usage("what %s is set to cannot be a token", tokenVariable).hinting("it is one line, as tabrelay " +
			"clients add NAME prints it")
	}
	a.relay.Transport = bearing{a.relay.Transport, strings.TrimSpace(token)}
	a.isClient = true
	return nil
}

// bearing sends requests with a token.
type bearing struct {
	http.RoundTripper
	token string
}

// RoundTrip sends a request.
func (b bearing) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(req)
}

// unknownToken is the error for a token that the relay does not know; nil: that is not what it says. Of one that has
// expired it says so itself.
func unknownToken(res *http.Response) error {
	if res.StatusCode != http.StatusUnauthorized ||
		strings.Contains(res.Header.Get("WWW-Authenticate"), join.TokenExpired) {
		return nil
	}
	f := fault.New(fault.Unauthorized, "The token in "+tokenVariable+" is not known to the relay of this home folder, "+
		"or no longer", fault.WithHint("ask the person: tabrelay clients list shows who has one, tabrelay clients "+
		"rotate NAME makes a new one"))
	return failed("%w", &refusedFault{f}).hinting(f.Hint)
}

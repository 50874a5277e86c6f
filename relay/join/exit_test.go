package join

import (
	"errors"
	"testing"

	"tabrelay/relay/config"
)

const (
	shutdown = `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`
	exit     = `{"jsonrpc":"2.0","method":"exit"}`
	done     = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestShimEndsWithExit(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: never})
	g := (<-relay.calls).welcome(t)
	for _, text := range []string{exit, shutdown, exit} { // the first comes too early, and ends nothing
		c.say(t, text)
		g.hears(t, text)
	}
	g.say(t, done)
	c.hears(t, done)
	relay.crash(g)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

func TestShimEndsWithExitWithoutARelay(t *testing.T) {
	none := errors.New("none")
	c := runShim(t, &Shim{Home: config.Home(t.TempDir()), Without: none})
	c.say(t, exit)
	c.say(t, shutdown)
	c.hears(t, done)
	c.say(t, exit)
	if err := <-c.ended; !errors.Is(err, none) {
		t.Error(err)
	}
}

package join

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/state/config"
)

func TestATemporaryRelayEndsOnceNobodyIsConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := time.Now(), make(chan time.Time, 1)
		l := NewLifetime(func() { ended <- time.Now() })
		first, _ := l.enter()
		time.Sleep(time.Hour)
		second, _ := l.enter()
		first()
		time.Sleep(time.Hour)
		second()
		time.Sleep(idleTime - time.Second)
		third, ok := l.enter() // the next command of a script
		if !ok {
			t.Fatal("it refused a command while it ran")
		}
		third()
		want := 2*time.Hour + idleTime - time.Second + idleTime
		if lasted := (<-ended).Sub(began); lasted != want {
			t.Errorf("it lasted %s, want %s", lasted, want)
		}
		if _, ok := l.enter(); ok || l.Keep() {
			t.Error("it takes a command, or a client, although it ends")
		}
	})
}

func TestATemporaryRelayThatNobodyReachesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := time.Now(), make(chan time.Time, 1)
		NewLifetime(func() { ended <- time.Now() })
		if lasted := (<-ended).Sub(began); lasted != idleTime {
			t.Errorf("it lasted %s, want %s", lasted, idleTime)
		}
	})
}

func TestATemporaryRelayThatIsKeptStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLifetime(func() { t.Error("it ended") })
		leave, _ := l.enter()
		if !l.Temporary() || !l.Keep() || l.Keep() || l.Temporary() {
			t.Error("that it stays is no news, or news twice")
		}
		leave()
		time.Sleep(time.Hour)
	})
}

func TestCircumstancesOfAStart(t *testing.T) {
	home := config.Home(t.TempDir())
	before := Circumstances(home)
	t.Setenv("TABRELAY_TOKEN", "of a client")
	t.Setenv("EDITOR", "ed")
	if Circumstances(home) != before {
		t.Error("they depend on what changes nothing in a relay")
	}
	t.Setenv("TABRELAY_LISTEN", "127.0.0.1:1")
	environment := Circumstances(home)
	if err := os.WriteFile(home.Config(), []byte(`{"listen":"127.0.0.1:2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if environment == before || Circumstances(home) == environment {
		t.Error("they do not depend on the environment, or on the settings")
	}
}

package access

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyThisMachineIsALocalHost(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:7717": true, "127.8.9.1:1": true, "localhost": true, "LOCALHOST:80": true,
		"[::1]:7717": true, "[::1]": true,
		"": false, "evil.example": false, "evil.example:7717": false, "127.0.0.1.evil.example": false,
		"localhost.evil.example": false,
		"localhost@evil.example": false, "0.0.0.0:7717": false, "10.0.0.1": false, "2130706433": false, "0x7f.1": false,
		"0:0:0:0:0:0:0:1": false, "[0:0:0:0:0:0:0:1]:80": true, "[::1%25x]": false, "[::1%25x]:7717": false,
		"[::1%lo]": false, "[::1%]": false,
		"127.0.0.1%25x": false, "[127.0.0.1]": false, "[127.0.0.1]:80": false, "[localhost]": false, "::1": false,
		"[::1": false, "::1]": false, "[[::1]]": false,
		"[::ffff:127.0.0.1]": false, "[::ffff:7f00:1]:80": false, "[::127.0.0.1]": false, "[::]": false, "0": false,
		"127.1": false, "127.0.1": false,
		"0177.0.0.1": false, "127.0.0.01": false, "017700000001": false, "0x7f000001": false, "127.0.0.1.": false,
		"localhost.": false, "localhost.:80": false,
		"user@localhost": false, "user:pw@127.0.0.1": false, "127.0.0.1:80@evil.example": false, "127.0.0.1:": false,
		"localhost:": false, "[::1]:": false,
		"localhost:x": false, "localhost:+80": false, "localhost:-1": false, "localhost:65536": false,
		"localhost:80:80": false, "[::1]x": false, "[::1]x:80": false,
		" localhost": false, "localhost ": false, "localhost/": false, "localhost,evil.example": false,
		"localho\u017ft": false, "１２７.0.0.1": false, "127。0.0.1": false,
		"ip6-localhost": false, "a.localhost": false, "%6cocalhost": false, "localhost\x00": false, "LocalHost": true,
		"127.255.255.254:65535": true,
	} {
		if got := LocalHost(host); got != want {
			t.Errorf("LocalHost(%q) = %v", host, got)
		}
	}
}

func TestOnlyThisMachineIsALocalOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://127.0.0.1": true, "http://localhost:3000": true, "https://[::1]:8443": true,
		"": false, "null": false, "http://evil.example": false, "http://127.0.0.1.evil.example": false,
		"http://localhost.evil.example": false,
		"http://localhost@evil.example": false, "http://user@localhost": false, "http://localhost/": false,
		"http://localhost?x": false,
		"http://localhost#x": false, "ftp://localhost": false, "file://localhost": false,
		"chrome-extension://localhost": false,
		"http://[::1%25x]":             false, "http://[::ffff:127.0.0.1]:80": false, "http://localhost.": false,
		"http://2130706433": false, "http://localhost:": false,
		"http://LOCALHOST": true, "http://localho\u017ft": false, "http://127.0.0.1:80:80": false,
	} {
		if got := LocalOrigin(origin); got != want {
			t.Errorf("LocalOrigin(%q) = %v", origin, got)
		}
	}
}

var budget = Budget{Burst: 3, Every: time.Second, Pause: 2 * time.Second}

func TestFailuresBeyondTheBudgetAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		f := NewFailures(budget, func(slowed int) { told = append(told, slowed) })
		begin := time.Now()
		for range 3 {
			if f.Note(t.Context()) {
				t.Error("a failure within the budget was slowed down")
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the budget took %s", took)
		}
		if !f.Note(t.Context()) || time.Since(begin) != budget.Pause {
			t.Errorf("beyond it: %s", time.Since(begin))
		}
		if f.Note(t.Context()) { // two seconds brought two more
			t.Error("the budget does not grow again")
		}
		if len(told) != 1 || told[0] != 1 {
			t.Errorf("told %v", told)
		}
	})
}

func TestSlowFailuresAreLoggedOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		f := NewFailures(Budget{Burst: 0, Every: time.Hour, Pause: time.Second},
			func(slowed int) { told = append(told, slowed) })
		for range 100 { // one each second
			f.Note(t.Context())
		}
		if len(told) != 2 || told[0] != 1 || told[1] != 60 {
			t.Errorf("told %v", told)
		}
	})
}

func TestPauseEndsWithTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures(Budget{Burst: 0, Every: time.Hour, Pause: time.Hour}, func(int) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if !f.Note(ctx) || time.Since(begin) != time.Second {
			t.Errorf("it waited %s for a sender who left", time.Since(begin))
		}
	})
}

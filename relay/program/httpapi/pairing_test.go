package httpapi

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAPairingStringIsGoodForAWhileAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pairings
		if p.Code() != "" || p.Use("") {
			t.Error("there is a string before one was made")
		}
		first, until := p.make()
		if time.Until(until) != 5*time.Minute || p.Code() != first {
			t.Errorf("it is good until %s", until)
		}
		second, _ := p.make()
		if first == second || p.Use(first) {
			t.Error("a new string does not replace the one before")
		}
		if !p.Use(second) || p.Use(second) || p.Code() != "" {
			t.Error("a string is not good once")
		}
		third, _ := p.make()
		time.Sleep(5*time.Minute - time.Nanosecond)
		if p.Code() != third {
			t.Error("it ran out early")
		}
		time.Sleep(time.Nanosecond)
		if p.Use(third) || p.Code() != "" {
			t.Error("it did not run out")
		}
	})
}

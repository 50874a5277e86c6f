package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
)

// What listens for other machines has a certificate and its key, and an address of its own.
func TestRemoteNeedsTLS(t *testing.T) {
	const files, noFiles = `"certificate": "/c.pem", "key": "/k.pem"`, "set remote.certificate and remote.key"
	for remote, want := range map[string]string{
		``: "", files: "",
		`"listen": "0.0.0.0:7719", ` + files:                         "",
		`"listen": "[::]:7719", ` + files:                            "",
		`"listen": "0.0.0.0:7719"`:                                   noFiles,
		`"listen": "127.0.0.1:7719"`:                                 noFiles,
		`"listen": "0.0.0.0:7719", "certificate": "/c.pem"`:          noFiles,
		`"listen": "0.0.0.0:7719", "key": "/k.pem"`:                  noFiles,
		`"listen": "laptop:7719", ` + files:                          "expected an IP address with a port",
		`"listen": "0.0.0.0", ` + files:                              "expected an IP address with a port",
		`"listen": "127.0.0.1:7717", ` + files:                       "is the relay's own address",
		`"listen": "0.0.0.0:1", "certificate": "c", "key": "/k.pem"`: "expected the absolute path of a file",
	} {
		_, err := read(t, `{"remote": {`+remote+`}}`)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", remote, err, want)
		}
	}
}

// To listen for other machines lets more in, which a person confirms; to listen no more does not.
func TestListeningElsewhereIsConfirmed(t *testing.T) {
	at := func(address string) Config {
		c := Default()
		c.Remote.Listen = address
		return c
	}
	none, one, two := at(""), at("10.0.0.1:7719"), at("0.0.0.0:7719")
	for _, test := range []struct {
		before, after Config
		want          []call.Difference
	}{
		{none, one, []call.Difference{{What: "remote.listen", Before: "none", After: "10.0.0.1:7719"}}},
		{one, two, []call.Difference{{What: "remote.listen", Before: "10.0.0.1:7719", After: "0.0.0.0:7719"}}},
		{one, one, nil}, {one, none, nil}, {none, none, nil},
	} {
		from, to := test.before.Remote.Listen, test.after.Remote.Listen
		before, after := RightsOf(&test.before), RightsOf(&test.after)
		if diff := cmp.Diff(test.want, after.Grown(before)); diff != "" {
			t.Errorf("from %q to %q (-want +got):\n%s", from, to, diff)
		}
		want := from
		if test.want == nil {
			want = to
		}
		if got := test.after.Within(before).Remote.Listen; got != want {
			t.Errorf("from %q to %q: %q is in effect", from, to, got)
		}
	}
}

// The sooner a tab is free for other agents, the more these may do.
func TestFreeingTabsSoonerIsConfirmed(t *testing.T) {
	hour, second := Default(), Default()
	second.Tabs.OwnershipIdle = time.Second
	want := []call.Difference{{What: "tabs.ownershipIdleMs", Before: "3600000", After: "1000"}}
	if diff := cmp.Diff(want, RightsOf(&second).Grown(RightsOf(&hour))); diff != "" {
		t.Error(diff)
	}
	bounded := second.Within(RightsOf(&hour))
	if bounded.Tabs.OwnershipIdle != time.Hour {
		t.Errorf("before a person has confirmed it: %v", bounded.Tabs.OwnershipIdle)
	}
	earlier := RightsOf(&hour)
	delete(earlier.Settings, "ownershipIdleMs")
	for _, before := range []Rights{earlier, RightsOf(&second)} {
		if grown := RightsOf(&hour).Grown(before); len(grown) > 0 {
			t.Errorf("a person is asked about %v", grown)
		}
	}
}

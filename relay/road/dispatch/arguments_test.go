package dispatch

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

func TestCallersSize(t *testing.T) {
	for value, want := range map[string]int{"1": 1, "2e3": 2000, "1000000000000": math.MaxInt32, "1e999": math.MaxInt32,
		"0": 0, "-1": 0, "1.5": 0, `"7"`: 0, "null": 0, "-1e999": 0} {
		var o relayArgs
		_, expected := o.read(&registry.Tool{TakesMaxBytes: true}, "maxBytes", json.RawMessage(value))
		if o.maxBytes != want || (expected == "") != (want > 0) {
			t.Errorf("%s: %d, expected %q", value, o.maxBytes, expected)
		}
	}
}

func TestCallersTimeout(t *testing.T) {
	for value, want := range map[string]time.Duration{"1": time.Millisecond, "2e3": 2 * time.Second,
		"1e999": 1e12 * time.Millisecond, "0": 0, "-1": 0, "1.5": 0, `"7"`: 0, "null": 0} {
		var o relayArgs
		_, expected := o.read(&registry.Tool{TakesTimeout: true}, "timeoutMs", json.RawMessage(value))
		if o.timeout != want || (expected == "") != (want > 0) {
			t.Errorf("%s: %s, expected %q", value, o.timeout, expected)
		}
	}
}

// One configured instance can be named, and need not be.
func TestOnlyInstance(t *testing.T) {
	only := &registry.Tool{TakesInstance: true, Site: &registry.Site{Instances: []plugin.Instance{{Name: "home"}}}}
	for value, want := range map[string]bool{`"home"`: true, `"work"`: false, "7": false, "null": false} {
		var o relayArgs
		if _, expected := o.read(only, "instance", json.RawMessage(value)); (expected == "") != want {
			t.Errorf("%s: expected %q", value, expected)
		}
	}
}

func TestWhyNoJSON(t *testing.T) {
	for output, want := range map[string]string{
		`{"a":`: "The tool's result is not JSON",
		"The tool's result is not JSON: no BigInt\n10": "The tool's result is not JSON: no BigInt",
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001): "The tool's result nests too deeply: at most " +
			"10000 levels can be read",
	} {
		if got := whyNoJSON([]byte(output)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

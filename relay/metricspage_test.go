package relay

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

const metricsPage = "../docs/metrics.md"

// TestDocumentedMetricsAreReal keeps the page and the registry the same.
func TestDocumentedMetricsAreReal(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	want := published(r)
	if *update {
		if err := os.WriteFile(metricsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/metrics.md is not what the registry says; run: go generate ./relay\n%s", diff)
	}
}

// described reads what a collector says of itself; the library shows it in no other way.
var described = regexp.MustCompile(`fqName: "(tabrelay_[a-z_]+)", help: "([^"]*)", (?:unit: "[^"]*", )?constLabels: ` +
	`\{\}, variableLabels: \{([^}]*)\}`)

func published(r *Relay) string {
	descriptions := make(chan *prometheus.Desc, 200)
	r.meter.Describe(descriptions)
	close(descriptions)
	var rows []string
	for d := range descriptions {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			rows = append(rows, "| `"+m[1]+"` | "+strings.ReplaceAll(m[3], ",", ", ")+" | "+m[2]+" |")
		}
	}
	slices.Sort(rows)
	return "# Metrics\n\n<!-- Made from what a relay counts by go generate ./relay; change it there. -->\n\n" +
		"`GET /metrics` speaks the Prometheus text format. It wants a client token, or none when `metrics.open` is " +
		"set.\n" +
		"The metrics of the Go runtime and of the process (`go_*`, `process_*`) are there too. A code that is not " +
		"in\n" +
		"[errors.md](errors.md) is counted as `other`: pages invent codes.\n\n" +
		"| metric | labels | what |\n| --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
}

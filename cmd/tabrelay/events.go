package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/join"
)

// eventLine bounds one line of the stream.
const eventLine = 1 << 20

func (a *app) events() *cobra.Command {
	var follow, asJSON bool
	var lines int
	cmd := &cobra.Command{
		Use: "events", Short: "Show what happened in the relay a moment ago, and with -f what happens", Args: cobra.NoArgs,
		Long: "Show what happened in the relay a moment ago, and with -f what happens: browsers that connect and go, failed calls,\n" +
			"retries, circuit breakers, questions to the person, clients that come and leave. Events are not kept: a relay that\n" +
			"starts has none.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 || lines > 500 {
				return usage("--lines is %d", lines).hinting("it is a number from 0 to 500")
			}
			return a.showEvents(cmd.Context(), lines, follow, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new events")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object on each line")
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many of the last events to show")
	return cmd
}

// news is one event as the relay tells it, or a gap.
type news struct {
	Seq     uint64         `json:"seq"`
	Time    time.Time      `json:"time"`
	Kind    string         `json:"kind"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func (a *app) showEvents(ctx context.Context, lines int, follow, asJSON bool) error {
	if !follow {
		var answer struct{ Events []json.RawMessage }
		if err := a.get(ctx, "/api/v1/events?once=1&recent="+strconv.Itoa(lines), &answer); err != nil {
			return err
		}
		for _, e := range answer.Events {
			if err := a.printEvent(e, asJSON); err != nil {
				return err
			}
		}
		if len(answer.Events) == 0 {
			a.notef("Nothing has happened since the relay started.\n")
		}
		return nil
	}
	stream, err := a.stream(ctx, "/api/v1/events?recent="+strconv.Itoa(lines))
	if err != nil {
		return err
	}
	defer stream.Close() // only read from
	return a.follow(ctx, stream, asJSON)
}

// stream opens a stream of events of the running relay.
func (a *app) stream(ctx context.Context, path string) (io.ReadCloser, error) {
	if _, ok := join.Running(ctx, a.home); !ok {
		return nil, errNotRunning()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := join.HTTP(a.home).Do(req)
	if err != nil {
		return nil, a.unanswered(ctx, "the relay did not answer", err)
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()                                     // only read from
		text, _ := io.ReadAll(io.LimitReader(res.Body, eventLine)) // the status alone says enough
		return nil, refusal(res.StatusCode, text)
	}
	return res.Body, nil
}

// follow prints a stream of events until it ends.
func (a *app) follow(ctx context.Context, stream io.Reader, asJSON bool) error {
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, eventLine)
	kind := ""
	for scanner.Scan() {
		name, value, _ := strings.Cut(scanner.Text(), ": ")
		switch name {
		case "event":
			kind = value
		case "data":
			if kind == "gap" {
				a.notef("… some events were missed: %s\n", value)
			} else if err := a.printEvent([]byte(value), asJSON); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return failed("the relay ended").hinting("tabrelay up starts it")
}

func (a *app) printEvent(text []byte, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintf(a.out, "%s\n", text)
		return err
	}
	var e news
	if err := json.Unmarshal(text, &e); err != nil {
		return failed("an event of the relay cannot be read: %w", err).hinting("the relay may be of another version; run: tabrelay down, then tabrelay up")
	}
	a.printf("%s  %-12s %s\n", e.Time.Local().Format("15:04:05.000"), e.Kind, e.Message)
	return nil
}

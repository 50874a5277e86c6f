package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
)

// maxArguments bounds what is read from a file or stdin.
const maxArguments = 64 << 20

func (a *app) call() *cobra.Command {
	var tab, maxBytes int
	var timeout time.Duration
	var arrayPath string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call NAME [JSON | @FILE | -]",
		Short: "Call a tool and print its result",
		Long: "Call a tool and print its result. The arguments are a JSON object: as it is, in a file (@FILE), or on stdin (-).\nA failure is printed as an agent reads it, on stderr. So is the progress of the tool, on a terminal.\n" +
			"A large result is truncated as it is for an agent: what is printed says so, and how to read the rest; --max-bytes 10485760 prints the largest there is.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := "{}"
			if len(args) == 2 {
				text = args[1]
			}
			arguments, err := a.arguments(text, tab)
			if err != nil {
				return err
			}
			if timeout < 0 || maxBytes < 0 {
				return usage("--timeout and --max-bytes cannot be negative")
			}
			ask := relay.Ask{Arguments: arguments, TimeoutMs: timeout.Milliseconds(), MaxBytes: maxBytes, ArrayPath: arrayPath}
			answer, err := a.carryOut(cmd.Context(), "/api/v1/tools/"+url.PathEscape(args[0])+"/call", ask)
			if err != nil {
				return err
			}
			return a.printAnswer(answer, asJSON)
		},
	}
	cmd.Flags().IntVar(&tab, "tab", 0, "id of the tab to run in")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long the tool may take, for example 10s (default: the tool's own)")
	cmd.Flags().IntVar(&maxBytes, "max-bytes", 0, "truncate a result that is larger (default: maxBytes of the configuration)")
	cmd.Flags().StringVar(&arrayPath, "array-path", "", "the list to shorten then, for example .items (default: the tool's own, or the largest)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result with where and how the call ran, or the whole failure")
	return cmd
}

// arguments reads what a tool is called with, and adds the tab.
func (a *app) arguments(text string, tab int) (json.RawMessage, error) {
	from := "the arguments"
	raw := []byte(text)
	var err error
	switch {
	case text == "-":
		from = "stdin"
		raw, err = io.ReadAll(io.LimitReader(a.in, maxArguments))
	case strings.HasPrefix(text, "@"):
		from = text[1:]
		raw, err = os.ReadFile(from)
	}
	if err != nil {
		return nil, failed("cannot read the arguments: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		problem := usage("not a JSON object: %s", from)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			problem = usage("not a JSON object: %s: %w", from, err)
		}
		return nil, problem.hinting(`for example: '{"name":"value"}'`)
	}
	if tab == 0 {
		return raw, nil
	}
	if _, given := object["tabId"]; given {
		return nil, usage("both --tab and tabId name a tab; use one of them")
	}
	object["tabId"] = json.RawMessage(fmt.Sprint(tab))
	return json.Marshal(object)
}

// printAnswer prints a result on stdout, or a failure on stderr.
func (a *app) printAnswer(answer relay.Answer, asJSON bool) error {
	for _, warning := range answer.Warnings {
		a.notef("warning: %s\n", warning)
	}
	if asJSON {
		if err := a.printJSON(answer); err != nil {
			return err
		}
	}
	if answer.Error != nil {
		if !asJSON {
			a.notef("%s\n", strings.Join(answer.Text, "\n"))
		}
		return errSilent
	}
	if asJSON {
		return nil
	}
	if answer.Output == nil && answer.Content != nil {
		return a.printJSON(answer.Content)
	}
	if said := answer.Said(); said != nil {
		return a.printJSON(said)
	}
	return a.printJSON(answer.Output)
}

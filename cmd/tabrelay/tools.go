package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/registry"
)

// toolEntry is what the command line shows of a tool.
type toolEntry struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`

	raw json.RawMessage // as an agent sees it
}

func (a *app) listTools(ctx context.Context) (listing httpapi.Listing, tools []toolEntry, err error) {
	if err := a.get(ctx, "/api/v1/tools", &listing); err != nil {
		return listing, nil, err
	}
	for _, raw := range listing.Tools {
		t := toolEntry{raw: raw}
		if err := json.Unmarshal(raw, &t); err != nil {
			return listing, nil, err
		}
		tools = append(tools, t)
	}
	return listing, tools, nil
}

func (a *app) tools() *cobra.Command {
	cmd := a.withJSON(&cobra.Command{
		Use: "tools", Short: "List the tools",
		RunE: func(cmd *cobra.Command, _ []string) error {
			listing, tools, err := a.listTools(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(listing)
			}
			rows := [][]string{{"NAME", "WHAT IT DOES"}}
			for _, t := range tools {
				rows = append(rows, []string{t.Name, firstSentence(t.Description)})
			}
			for _, p := range listing.Problems {
				a.notef("problem: %s\n", problemText(p))
			}
			return a.table(rows...)
		},
	})
	cmd.AddCommand(a.toolsShow())
	return cmd
}

func (a *app) toolsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show one tool and what it takes", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, tools, err := a.listTools(cmd.Context())
			if err != nil {
				return err
			}
			for _, t := range tools {
				switch {
				case t.Name != args[0]:
					continue
				case a.json:
					return a.printJSON(t.raw)
				}
				a.printf("%s\n%s\n\n", t.Name, t.Description)
				return a.printJSON(t.InputSchema)
			}
			return failed("there is no tool %q", args[0]).hinting("tabrelay tools lists them")
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print the tool as an agent sees it")
	return cmd
}

// firstSentence is the first sentence of the first line.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if sentence, _, more := strings.Cut(text, ". "); more {
		return sentence + "."
	}
	return text
}

func problemText(p registry.Problem) string {
	if p.Plugin == "" {
		return p.Reason
	}
	return "plugin " + p.Plugin + ": " + p.Reason
}

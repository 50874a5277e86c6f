package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/registry"
)

// listed is what the shell shows of a tool.
type listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (a *app) tools() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var listing relay.Listing
			if err := a.get(cmd.Context(), "/api/v1/tools", &listing); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(listing)
			}
			rows := [][]string{{"NAME", "WHAT IT DOES"}}
			for _, raw := range listing.Tools {
				var t listed
				if err := json.Unmarshal(raw, &t); err != nil {
					return err
				}
				rows = append(rows, []string{t.Name, firstSentence(t.Description)})
			}
			for _, p := range listing.Problems {
				a.notef("problem: %s\n", problemText(p))
			}
			return a.table(rows...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(a.toolsShow())
	return cmd
}

func (a *app) toolsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show one tool and what it takes", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var listing relay.Listing
			if err := a.get(cmd.Context(), "/api/v1/tools", &listing); err != nil {
				return err
			}
			for _, raw := range listing.Tools {
				var t listed
				if err := json.Unmarshal(raw, &t); err != nil {
					return err
				}
				if t.Name != args[0] {
					continue
				}
				if asJSON {
					return a.printJSON(raw)
				}
				a.printf("%s\n%s\n\n", t.Name, t.Description)
				return a.printJSON(t.InputSchema)
			}
			return failed("there is no tool %q", args[0]).hinting("tabrelay tools lists them")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tool as an agent sees it")
	return cmd
}

// firstSentence is what fits into a list.
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

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/fault"
	"tabrelay/relay/httpapi"
)

const agentsPath = "/api/v1/agents"

func (a *app) agents() *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "List and test the agents that clients can delegate to"}
	cmd.AddCommand(a.agentsList(), a.agentsTest(), a.agentsTranscript())
	return cmd
}

func (a *app) agentsList() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "list", Short: "List the agents that are configured, and what each of them lacks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list httpapi.Agents
			if err := a.get(cmd.Context(), agentsPath, &list); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list.Agents) == 0 {
				a.notef("No agent is configured. Add a provider of models or a worker to config.json: see " +
					"docs/delegation.md.\n")
				return nil
			}
			rows := [][]string{{"AGENT", "STATUS", "RUNS ON", "FOR"}}
			for _, one := range list.Agents {
				rows = append(rows, []string{agentName(one), string(one.Status), runsOn(one),
					strings.Join(one.Capabilities, ", ")})
			}
			if err := a.table(rows...); err != nil {
				return err
			}
			for _, one := range list.Agents {
				if one.Trouble != "" {
					a.notef("%s: %s\n", one.ID, one.Trouble)
				}
			}
			if n := unpricedOf(list); n > 0 || list.SpentUSD > 0 {
				a.notef("Spent today: $%.2f of %s. Requests that are not in it, because their models have no pricing "+
					"in config.json: %d\n", list.SpentUSD, bound(list.MostUSD), n)
			}
			return nil
		},
	})
}

// unpricedOf is how many requests count as 0 USD, since the relay started.
func unpricedOf(list httpapi.Agents) (n int) {
	for _, one := range list.Spent {
		n += one.Unpriced
	}
	return n
}

func bound(usd float64) string {
	if usd == 0 {
		return "any amount"
	}
	return fmt.Sprintf("$%.2f", usd)
}

func agentName(one httpapi.AgentView) string {
	if one.Default {
		return one.ID + " (default)"
	}
	return one.ID
}

// runsOn is the program that an agent is, or the models that it uses.
func runsOn(one httpapi.AgentView) string {
	if one.Program != "" {
		return one.Program
	}
	var names []string
	for _, p := range one.Providers {
		name := p.ID
		if len(p.Models) > 0 {
			name += " (" + strings.Join(p.Models, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

func (a *app) agentsTest() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "test NAME", Short: "Ask an agent something tiny, and show what answered", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var test httpapi.AgentTest
			path := agentsPath + "/" + url.PathEscape(args[0]) + "/test"
			if err := a.request(cmd.Context(), http.MethodPost, path, nil, &test); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(test)
			}
			by := ""
			if test.Provider != "" {
				by = strings.TrimSpace(test.Provider+" "+test.Model) + ", "
			}
			a.notef("%s answered: %s%d ms, %d tokens read, %d written\n", args[0], by, test.Ms, test.InputTokens,
				test.OutputTokens)
			_, err := fmt.Fprintln(a.out, fault.Sanitize(test.Text))
			return err
		},
	})
}

package main

import (
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/config"
)

// secrets opens secrets.json, and makes the home folder first if need be.
func (a *app) secrets() (*config.Secrets, error) {
	if err := a.home.Create(); err != nil {
		return nil, err
	}
	return config.OpenSecrets(a.home)
}

func (a *app) clients() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "List, add, rotate and revoke the tokens of clients",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.clientsList(), a.clientsAdd(), a.clientsRotate(), a.clientsRevoke())
	return cmd
}

func (a *app) clientsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List who may use the relay", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			type client struct {
				Name    string    `json:"name"`
				Created time.Time `json:"created"`
			}
			list := []client{}
			rows := [][]string{{"NAME", "SINCE"}}
			for _, c := range secrets.Clients() {
				list = append(list, client{c.Name, c.Created})
				rows = append(rows, []string{c.Name, c.Created.Local().Format(time.DateOnly)})
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				a.notef("No client has a token yet. tabrelay connect CLIENT gives it one.\n")
				return nil
			}
			return a.table(rows...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) clientsAdd() *cobra.Command {
	return &cobra.Command{
		Use: "add NAME", Short: "Make a token for an HTTP client and print it, once", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.printToken(func(s *config.Secrets) (string, error) { return s.Add(args[0]) })
		},
	}
}

func (a *app) clientsRotate() *cobra.Command {
	return &cobra.Command{
		Use: "rotate NAME", Short: "Replace a client's token and print the new one, once", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.printToken(func(s *config.Secrets) (string, error) { return s.Rotate(args[0]) })
		},
	}
}

func (a *app) printToken(from func(*config.Secrets) (string, error)) error {
	secrets, err := a.secrets()
	if err != nil {
		return err
	}
	token, err := from(secrets)
	if err != nil {
		return err
	}
	if a.interactive() {
		a.notef("The token is shown only now. Send it as “Authorization: Bearer …”.\n")
	}
	a.printf("%s\n", token)
	return nil
}

func (a *app) clientsRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Shut a client out at once", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			if err := secrets.Revoke(args[0]); err != nil {
				return err
			}
			a.notef("%s is shut out.\n", args[0])
			return nil
		},
	}
}

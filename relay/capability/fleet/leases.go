package fleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/store"
)

// tables are the leases of this node, and who waits, as JSON in one row, for the relay after this one.
var tables = &store.Tables{Capability: name, Migrations: []string{
	`CREATE TABLE fleet_leases (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), leases TEXT NOT NULL);`,
}}

const (
	findLeases = `SELECT leases FROM fleet_leases`
	keepLeases = `INSERT OR REPLACE INTO fleet_leases VALUES (1, ?)`
	// readTime is how long the store may take at the start.
	readTime = 5 * time.Second
)

// keep keeps the leases of the node.
func (m *member) keep(list []lease.Kept) {
	text := string(rawjson.MustEncode(list))
	m.core.Store.Later("the leases of the fleet", func(tx store.Tx) error { return tx.Exec(keepLeases, text) })
}

// kept are the leases that were kept last. Without them the node begins with none.
func (m *member) kept(s settings) (list []lease.Kept) {
	if !s.Exclusive {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	text, err := store.Read(ctx, m.core.Store, func(tx store.Tx) (text string, err error) {
		err = tx.Row(findLeases, nil, &text)
		return text, err
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		log := m.core.Log(name)
		log.Warn().Err(err).Msg("the leases of before are not known any more")
	}
	return list
}

const (
	whyReleased = "the owner of the browser has ended the lease"
	whyStopped  = "the owner of the browser has stopped everything"
)

// stopped ends all leases because the person has stopped everything.
func (m *member) stopped() {
	if n := m.current(); n != nil {
		n.EndLeases("", whyStopped)
	}
}

// Released is the answer to a request to end a lease.
type Released struct {
	Holders []string `json:"holders"` // who had it
}

// release answers DELETE /api/v1/fleet/leases/{profile}.
func (m *member) release(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	profile := req.PathValue("profile")
	if n := m.current(); n != nil {
		if holders := n.EndLeases(profile, whyReleased); len(holders) > 0 {
			return Released{holders}, nil
		}
	}
	return nil, httpapi.NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode, fmt.Sprintf("No session of a "+
		"fleet holds the browser profile %q", fault.Excerpt(profile)), fault.WithHint("tabrelay fleet status says "+
		"which are leased.")))
}

func (c commands) release() *cobra.Command {
	return &cobra.Command{
		Use: "release PROFILE", Short: "End the lease by which a session elsewhere has a browser profile for itself",
		Long: "End the lease by which a session elsewhere has a browser profile of this node for itself, and its " +
			"calls that run there.\nWho waits for the profile gets it. To keep the session from coming back, take " +
			"back what it may do: tabrelay permit list.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.Completing(c.leasedProfiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r Released
			err := c.Request(cmd.Context(), http.MethodDelete, fleetPath+"/leases/"+url.PathEscape(args[0]), nil, &r)
			if err != nil {
				return err
			}
			c.Notef("%s does not hold the browser profile %s any more.\n", strings.Join(r.Holders, ", "), args[0])
			return nil
		},
	}
}

// leasedProfiles are the words for the profile.
func (c commands) leasedProfiles(ctx context.Context) (words []string) {
	var s Status
	if c.Get(ctx, fleetPath, &s) != nil || s.Node == nil {
		return nil
	}
	for _, one := range s.Node.Leases {
		words = append(words, one.Profile+"\t"+one.Holder)
	}
	return words
}

// printLeases prints who has which profile of this node.
func (c commands) printLeases(s Status) error {
	if s.Node == nil || !s.Node.Exclusive {
		return nil
	}
	if len(s.Node.Leases) == 0 {
		c.Printf("Its browser profiles are leased to one session each; none is now.\n")
		return nil
	}
	rows := [][]string{{"LEASED", "TO", "FOR", "RUNNING", "WAITING"}}
	for _, one := range s.Node.Leases {
		rows = append(rows, []string{one.Profile, one.Holder, time.Since(one.Since).Round(time.Second).String(),
			fmt.Sprint(one.Running), strings.Join(one.Waiting, ", ")})
	}
	return c.Table(rows...)
}

// leasesInWords are the leases of a node of the directory.
func leasesInWords(list []wire.Lease) string {
	var words []string
	for _, one := range list {
		text := one.Profile + ": " + one.Holder
		if one.Waiting > 0 {
			text += fmt.Sprintf(" (%d wait)", one.Waiting)
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

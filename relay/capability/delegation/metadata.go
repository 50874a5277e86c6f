package delegation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// metadataForm is metadata as a client writes it.
type metadataForm struct {
	Provider      string            `json:"provider"`
	RuntimeParams provider.Params   `json:"runtimeParams"`
	Tools         []string          `json:"tools"`
	Tabs          []json.RawMessage `json:"tabs"`
	ReadOnly      bool              `json:"readOnly"`
	Budget        Budget            `json:"budget"`
	Notes         json.RawMessage   `json:"notes"` // the client's own, which nobody reads
}

// metadataMembers are the members that metadata may have. Their names count as they are written: a bound that is
// misspelt would bound nothing.
var metadataMembers = []string{"provider", "runtimeParams", "tools", "tabs", "readOnly", "budget", "notes"}

// meant are names by which others call a member.
var meant = map[string]string{
	"readonly": "readOnly", "read_only": "readOnly", "allowedtools": "tools", "allowed_tools": "tools",
	"allowedtabs": "tabs", "allowed_tabs": "tabs", "plugins": "tools", "limits": "budget", "model": "runtimeParams",
}

// checkMetadata refuses what is too large, or has members that nobody knows.
func (s *Sessions) checkMetadata(raw json.RawMessage) *fault.Error {
	s.mu.Lock()
	most := s.limits.MaxMetadataBytes
	s.mu.Unlock()
	if size := len(raw); size > most {
		return fault.New(fault.InputTooLarge, "Metadata exceeds maximum size",
			fault.WithHint(fmt.Sprintf("The metadata has %d bytes, and may have %d.", size, most)))
	}
	members, _ := rawjson.Members(raw)
	for _, m := range members {
		if slices.Contains(metadataMembers, m.Name) {
			continue
		}
		name := fault.Excerpt(m.Name)
		hint := "Members are " + strings.Join(metadataMembers, ", ") + "; put notes of your own into notes."
		if other := meant[strings.ToLower(m.Name)]; other != "" {
			hint = "Use " + other + ". " + hint
		} else if near := suggest.Nearest(m.Name, metadataMembers); near != "" {
			hint = "Did you mean " + near + "? " + hint
		}
		return unknownBound(fmt.Sprintf("metadata has an unknown member %q, which would limit nothing", name),
			hint)
	}
	return nil
}

// readMetadata reads what a client says of a session. Its form was checked.
func readMetadata(raw json.RawMessage) (m Metadata, failure *fault.Error) {
	if raw == nil {
		return m, nil
	}
	var form metadataForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return m, fault.New(fault.ValidationError, "metadata cannot be read: "+err.Error(),
			fault.WithSource(fault.SourceInternal))
	}
	m = Metadata{Provider: form.Provider, RuntimeParams: form.RuntimeParams, Tools: form.Tools,
		ReadOnly: form.ReadOnly, Budget: form.Budget}
	for _, tab := range form.Tabs {
		text, isText := rawjson.Text(tab)
		if !isText {
			text = string(tab) // a number
		}
		m.Tabs = append(m.Tabs, text)
	}
	return m, nil
}

// checkBounds refuses bounds that name what does not exist: who misspells one believes the agent bound by it.
func (s *Sessions) checkBounds(asked Asked) *fault.Error {
	if failure := s.checkTools(asked.Asker, asked.Metadata.Tools); failure != nil {
		return failure
	}
	if _, err := match.NewTabs(asked.Metadata.Tabs); err != nil {
		return unknownBound("metadata.tabs: "+err.Error(),
			"Use ids of browser__list_tabs, or patterns such as https://shop.example/*.")
	}
	for _, text := range asked.Metadata.Tabs {
		id, err := strconv.Atoi(text)
		if err == nil && s.options.TabGone != nil && s.options.TabGone(id) {
			return unknownBound(fmt.Sprintf("metadata.tabs: there is no tab %d", id),
				"List the tabs with browser__list_tabs and use one of their ids.")
		}
	}
	return nil
}

// checkTools refuses names of tools and plugins that the client does not have.
func (s *Sessions) checkTools(asker call.Session, names []string) *fault.Error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	groups := map[string]bool{}
	for _, t := range s.options.Tools.List(asker) {
		if known = append(known, t.Name); !groups[t.Group] {
			groups[t.Group] = true
			known = append(known, t.Group)
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := "Use names of tools or plugins as tools/list has them; patterns such as shop__* are not understood."
		if near := suggest.Nearest(name, known); near != "" {
			hint = "Did you mean " + near + "? " + hint
		}
		return unknownBound(fmt.Sprintf("metadata.tools: you have no tool or plugin %q", fault.Excerpt(name)), hint)
	}
	return nil
}

func unknownBound(message, hint string) *fault.Error {
	return fault.New(fault.ValidationError, message, fault.WithSource(fault.SourceInternal),
		fault.WithOutcome(fault.NotExecuted), fault.WithHint(hint))
}

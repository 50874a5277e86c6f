package deed

import (
	"regexp"
	"slices"
	"strings"
)

// deletes are words by which pages call what cannot be taken back, in the languages of most websites.
var deletes = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + strings.Join([]string{
	"delet(?:e|ing|ion)", "remov(?:e|ing|al)", "eras(?:e|ing)", "destroy", "discard", "wipe", "purge", "terminate",
	"deactivate", "uninstall", "revoke", "trash", "clear all", "empty",
	`(?:close|cancel)(?: \pL+)? (?:account|order|subscription|booking|contract|plan)`,
	`\pL*lösch\pL*`, `\pL*entfern\pL*`, "verwerfen", `kündig\pL*`, `supprim\pL*`, `effac\pL*`, `résili\pL*`,
	`elimin\pL*`, "borrar", "excluir", "apagar", `cancell\pL*`, `verwijder\pL*`, "usuń", `smaz\pL*`, "radera", "slett?",
	"poista", `удал\pL*`, `видал\pL*`,
}, "|") + `)(?:[^\pL]|$)|削除|删除|刪除|삭제`)

// uses is what handing over what a field holds is called, by why it is not for anybody to read.
var uses = map[string]string{"password": "Uses a password", "payment": "Uses payment details",
	"code": "Uses a one-time code", "secret": "Uses a secret"}

// effects is what a step does that weighs more than that it changes something.
func (s step) effects(targets []*target) (list []string) {
	if s.tool == "upload" {
		list = append(list, "Hands over files")
	}
	for _, t := range targets {
		if t == nil {
			continue
		}
		if _, elsewhere := t.sentTo(); elsewhere {
			list = append(list, "Sends to another site")
		}
		if s.tool == "click" || s.tool == "press" && t.Kind == "" {
			if called := t.Name + " " + t.Shows + " " + t.Words; deletes.MatchString(called) {
				list = append(list, "May delete something")
			}
		}
		if uses[t.Secret] != "" && s.tool != "click" && s.tool != "pointer" {
			list = append(list, uses[t.Secret])
		}
		for _, one := range t.Holds {
			if uses[one.Secret] != "" {
				list = append(list, uses[one.Secret])
			}
		}
	}
	return list
}

// appendNew appends what is not in a list yet.
func appendNew(list []string, more ...string) []string {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

package deed

import (
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// deletes are words by which pages call what cannot be taken back, in the languages of most websites.
var deletes = lazyregexp.New(`(?i)(?:^|[^\pL])(?:` + strings.Join([]string{
	"delet(?:e|ing|ion)", "remov(?:e|ing|al)", "eras(?:e|ing)", "destroy", "discard", "wipe", "purge", "terminate",
	"deactivate", "uninstall", "revoke", "trash", "clear all", "empty",
	`(?:close|cancel)(?: \pL+)? (?:account|order|subscription|booking|contract|plan)`,
	`\pL*lösch\pL*`, `\pL*entfern\pL*`, "verwerfen", `kündig\pL*`, `supprim\pL*`, `effac\pL*`, `résili\pL*`,
	`elimin\pL*`, "borrar", "excluir", "apagar", `cancell\pL*`, `verwijder\pL*`, "usuń", `smaz\pL*`, "radera", "slett?",
	"poista", `удал\pL*`, `видал\pL*`,
}, "|") + `)(?:[^\pL]|$)|削除|删除|刪除|삭제`)

// pays are words of what orders or pays something, in the same languages.
var pays = lazyregexp.New(`(?i)(?:^|[^\pL])(?:` + strings.Join([]string{
	"pay", "buy", "purchase", "checkout", "check out", "donate", "place bid", "order now", "book now",
	"send money",
	`(?:place|submit|confirm|send|complete)(?: \pL+)? (?:order|booking|payment|transfer)`,
	`transfer(?: \pL+)? (?:money|now)`, "bezahlen", "zahlen", `zahlungspflichtig\pL*`, "kaufen", "bestellen",
	"überweisen", "spenden", "payer", "acheter", "commander", "pagar", "comprar", "paga", "acquista", "betalen",
	"kopen", "zapłać", "kup", "zaplatit", "koupit", "betala", "köp", "betal", "kjøp", "køb", "maksa", "osta",
	"оплатить", "купить", "заказать", "сплатити", "купити",
}, "|") + `)(?:[^\pL]|$)|購入|支払|注文する|付款|支付|购买|購買|결제|구매`)

// secrets are what a field may hold, by why that is not for anybody to read.
var secrets = map[string]string{"password": "a password", "payment": "payment details", "code": "a one-time code",
	"secret": "a secret"}

// effects are the consequences of a step that have more weight than a change.
func (s step) effects(targets []*target) (list []string) {
	if s.tool == "upload" {
		list = append(list, "Hands over files")
	}
	if s.dialogs() != "" {
		list = append(list, "Answers what the page asks")
	}
	for _, t := range targets {
		if t == nil {
			continue
		}
		if _, elsewhere := t.sentTo(); elsewhere {
			list = append(list, "Sends to another site")
		}
		if t.Shows != "" && t.Name != "" && !t.Unnamed {
			list = append(list, "Label says otherwise")
		}
		if s.tool == "click" || s.tool == "press" && t.Kind == "" {
			called := t.Name + " " + t.Shows + " " + t.Words
			if deletes.MatchString(called) {
				list = append(list, "May delete something")
			}
			if pays.MatchString(called) {
				list = append(list, "May cost money")
			}
		}
		for _, kind := range s.handsOver(t) {
			list = append(list, "Uses "+kind)
		}
	}
	return list
}

// handsOver is what a step types into a target, or sends with its form, that is not for anybody to read.
func (s step) handsOver(t *target) (list []string) {
	if t == nil {
		return nil
	}
	if secrets[t.Secret] != "" && s.tool != "click" && s.tool != "pointer" {
		list = append(list, secrets[t.Secret])
	}
	for _, one := range t.Holds {
		if secrets[one.Secret] != "" {
			list = append(list, secrets[one.Secret])
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

package draft

import (
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
)

// Placeholder stands in a draft for what must not be in it.
const Placeholder = "REDACTED"

var (
	// of a word of a name: see isPassword
	passwordWord = lazyregexp.New(`^(?:pwd?|pass|pin|otp|totp|mfa|cvc|cvv|cvn|kennwort|senha|clave|heslo)$|` +
		`passw|passphrase|passcode|passwd|passwort|contrase|motdepasse|onetime|cardnumber|otpcode`)
	personalName = lazyregexp.New(`(?i)mail|phone|name|user|login|author|owner|assignee|address|street|city|` +
		`zip|birth|search|query|^q$|^s$|term|customer|contact|account|comment|message|title|body|text|note|` +
		`reviewer|approver|manager|member|person|people|participant|recipient|sender|guest|attendee|friend|employee|` +
		`patient|student|teacher|company|team|place|location|keyword|phrase|subject|content|description|summary|` +
		`reason|answer|` +
		`(?:^|[^a-z])(?:to|cc|bcc|from|for|by|age|year|code|find|filter|k|w|tags?|whom?|where|what)(?:$|[^a-z])`)
	tokenHeader = lazyregexp.New(`^(?:x-.*|authorization)$`)
	scheme      = lazyregexp.New(`^(?i:Bearer|Token|JWT|Basic) +`)
	word        = lazyregexp.New(`^[a-z][a-z_-]{0,23}$`)
	smallNumber = lazyregexp.New(`^-?\d{1,4}$`)
	plainToken  = lazyregexp.New(`^[\w+/=.~%:|-]+$`)
	randomRun   = lazyregexp.New(`[A-Za-z0-9_+/=-]{8,}`)
)

// secrets are the values of a recording that must not be in a draft.
type secrets map[string]bool

const shortestSecret = 6 // characters: a shorter one cannot be told from any other text

func (s secrets) add(value string) {
	if value = scheme.ReplaceAllString(value, ""); len(value) >= shortestSecret {
		s[value] = true
	}
}

// collectSecrets finds the secrets in what was sent. What pages were answered is never written.
func (r *Recording) collectSecrets() secrets {
	s := secrets{}
	for _, f := range r.found {
		s.add(f.value)
	}
	for _, q := range r.requests {
		for name, value := range q.headers {
			if name == "authorization" || tokenHeader.MatchString(name) && looksRandom(value) || isSecret(name) {
				s.add(value)
			}
		}
		for name, values := range q.url.Query() {
			s.addField(name, values)
		}
		for name, values := range q.fields() {
			s.addField(name, values)
		}
		if value, ok := q.json(); ok {
			s.addJSON("", value, 0)
		}
	}
	return s
}

func (s secrets) addField(name string, values []string) {
	for _, value := range values {
		if isSecret(name) {
			s.add(value)
		}
	}
}

func (s secrets) addJSON(name string, value any, depth int) {
	switch v := value.(type) {
	case string:
		s.addField(name, []string{v})
	case map[string]any:
		for key, one := range v {
			if depth < deepest {
				s.addJSON(key, one, depth+1)
			}
		}
	case []any:
		for _, one := range v {
			if depth < deepest {
				s.addJSON(name, one, depth+1)
			}
		}
	}
}

// strip replaces every secret in a text of the site: longest first, so that none leaves its rest.
func (s secrets) strip(text string) string {
	// a plain word is no secret that could be known again
	return s.replace(text, func(value string) bool { return !word.MatchString(value) })
}

// stripFile does the same with a whole file that is about to be written, in which a secret that does not look like one
// may be a piece of the draft's own code.
func (s secrets) stripFile(text string) string {
	return s.replace(text, func(value string) bool { return plainToken.MatchString(value) && looksRandom(value) })
}

func (s secrets) replace(text string, wanted func(value string) bool) string {
	all := make([]string, 0, len(s))
	for value := range s {
		if wanted(value) {
			all = append(all, value)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, value := range all {
		text = strings.ReplaceAll(text, value, Placeholder)
	}
	return text
}

// isSecret tells a name whose value is in no draft, and no argument of a tool.
func isSecret(name string) bool { return fault.SecretName(name) }

// isPassword tells a name of a password, a PIN, a code that is used once, or of a card.
func isPassword(name string) bool {
	list := words(name)
	return slices.ContainsFunc(list, passwordWord.MatchString) || passwordWord.MatchString(strings.Join(list, ""))
}

// hasPassword tells whether JSON has a field with such a name, at any depth.
func hasPassword(value any, known map[string]bool) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			if known[name] || isPassword(name) || hasPassword(one, known) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return hasPassword(one, known) })
	}
	return false
}

// mayBePersonal tells a text of a page that may be about somebody, and so is not taken over.
func mayBePersonal(text string) bool { return strings.Contains(text, "@") || looksRandom(text) }

// looksRandom tells a value that no person has chosen: a long run of letters and digits, mixed.
func looksRandom(text string) bool {
	for _, run := range randomRun.FindAllString(text, -1) {
		digits, letters := 0, 0
		for _, r := range run {
			switch {
			case r >= '0' && r <= '9':
				digits++
			case r != '-' && r != '_' && r != '/':
				letters++
			}
		}
		if digits >= 2 && letters >= 2 || len(run) >= 24 && digits+letters == len(run) && digits > 0 {
			return true
		}
	}
	return false
}

// harmless tells a value that may stand in a draft as it was: a flag, a small number, or a plain word in a field that
// is not about people.
func harmless(name, value string) bool {
	switch {
	case isSecret(name):
		return false
	case value == "true", value == "false":
		return true
	}
	return (word.MatchString(value) || smallNumber.MatchString(value)) && !personalName.MatchString(name)
}

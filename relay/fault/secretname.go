package fault

import "strings"

var secretNames = later(`(?i)passw|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential` +
	`|authorization|cookie|session[_-]?id|csrf|xsrf|^(pin|otp|cvv|cvc)$`)

// inSecretNames are pieces of which every such name has one.
var inSecretNames = []string{"pass", "secret", "token", "key", "credential", "authorization", "cookie", "session",
	"csrf", "xsrf", "pin", "otp", "cvv", "cvc"}

// SecretName reports whether a value with that name, such as an argument's, is taken for a credential whatever it is.
func SecretName(name string) bool {
	lower := strings.ToLower(strings.ReplaceAll(name, "\u017f", "s")) // which an expression without case takes for an s
	lower = strings.ReplaceAll(lower, "\u212a", "k")
	for _, piece := range inSecretNames {
		if strings.Contains(lower, piece) {
			return secretNames().MatchString(name)
		}
	}
	return false
}

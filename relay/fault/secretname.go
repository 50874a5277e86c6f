package fault

var secretNames = later(`(?i)passw|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie|session[_-]?id|csrf|xsrf|^(pin|otp|cvv|cvc)$`)

// SecretName reports whether a value with that name, such as an argument's, is taken for a credential whatever it is.
func SecretName(name string) bool { return secretNames().MatchString(name) }

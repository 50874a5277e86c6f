package fault

import "testing"

// Looking first whether it is worth it changes nothing.
func FuzzRedactIsTheSame(f *testing.F) {
	for _, s := range []string{
		"tea", "password", "api_key", "apikey", "PIN", "ping", "token=x", "\u017fecret", "to\u212aen", "AKIAABCDEFGHIJKLMNOP",
		"eyJabcdefgh.x.", "sk-abcdefghijklmnop1",
		"AIzaabcdefghijklmnopqrstuvwxyz12345", "https://a:b@c", "Bearer abcdefghijkl", "csrf=x", "a\u00a0b",
		"-----BEGIN PRIVATE KEY-----abc",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Redact(text), redact(text); got != want {
			t.Errorf("%q becomes %q, and %q without the first look", text, got, want)
		}
		if got, want := SecretName(text), secretNames().MatchString(text); got != want {
			t.Errorf("%q: %v, and %v without the first look", text, got, want)
		}
	})
}

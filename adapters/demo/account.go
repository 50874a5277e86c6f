package demo

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
)

const (
	sessionCookie = "demo_session"
	password      = "demo"
)

// accounts are the sessions of people who signed in with the form. Any name will do; the password is printed on the
// page.
type accounts struct {
	mu    sync.Mutex
	names map[string]string // by session token
}

func newAccounts() *accounts { return &accounts{names: map[string]string{}} }

// name returns who is signed in, or "" for nobody.
func (a *accounts) name(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.names[cookie.Value]
}

func (a *accounts) form(w http.ResponseWriter, r *http.Request) {
	render(w, "login", map[string]any{"Name": a.name(r)})
}

func (a *accounts) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name == "" || len(name) > 100 || r.PostFormValue("password") != password {
		w.WriteHeader(http.StatusForbidden)
		render(w, "login", map[string]any{"Wrong": true})
		return
	}
	token := rand.Text()
	a.mu.Lock()
	if len(a.names) == maxNames {
		clear(a.names) // everybody signs in again: better than growing, and nothing is lost
	}
	a.names[token] = name
	a.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *accounts) signOut(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		a.mu.Lock()
		delete(a.names, cookie.Value)
		a.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *accounts) me(w http.ResponseWriter, r *http.Request) {
	name := a.name(r)
	if name == "" {
		refuse(w, http.StatusUnauthorized, "Nobody is signed in.")
		return
	}
	answer(w, map[string]string{"name": name})
}

// Package demo is the small web application that the demo plugin works on: pages to read, counters to raise,
// an account to sign in to, and endpoints that are slow, large or wrong on request.
//
// It remembers what it was asked, so that a test, or a curious person, can see that nothing was done twice.
// Everything is kept in memory and bounded; nothing survives the process.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed site
var files embed.FS

var pages = template.Must(template.ParseFS(files, "site/*.tmpl"))

// article is one page of the site, as the plugin lists and reads it.
type article struct {
	Slug, Title, Text string
}

// site is the whole application: what it serves and what it remembers.
type site struct {
	articles []article
	counters *counters
	notes    *notes
	accounts *accounts
}

// Site returns the demo site. Every call returns a fresh one that remembers nothing.
func Site() http.Handler {
	s := &site{articles: readArticles(), counters: newCounters(), notes: newNotes(), accounts: newAccounts()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /pages/{slug}", s.page)
	mux.HandleFunc("GET /login", s.accounts.form)
	mux.HandleFunc("POST /login", s.accounts.signIn)
	mux.HandleFunc("POST /logout", s.accounts.signOut)
	mux.HandleFunc("GET /api/pages", s.listArticles)
	mux.HandleFunc("GET /api/me", s.accounts.me)
	mux.HandleFunc("GET /api/counters/{name}", s.counters.read)
	mux.HandleFunc("POST /api/counters/{name}", s.counters.increment)
	mux.HandleFunc("GET /api/notes/{name}", s.notes.read)
	mux.HandleFunc("POST /api/notes/{name}", s.notes.add)
	mux.HandleFunc("/api/status/{code}", status)
	mux.HandleFunc("GET /api/slow", slow)
	mux.HandleFunc("GET /api/big", big)
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static())))
	return mux
}

func static() fs.FS {
	sub, err := fs.Sub(files, "site/static")
	if err != nil {
		panic(err) // the folder is embedded: it cannot be missing in a binary that was built
	}
	return sub
}

// readArticles reads site/pages/*.txt: a title line, an empty line, the text.
func readArticles() []article {
	names, err := fs.Glob(files, "site/pages/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var list []article
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the name comes from the same embedded tree
		}
		title, text, _ := strings.Cut(string(raw), "\n\n")
		slug := strings.TrimSuffix(path.Base(name), ".txt")
		list = append(list, article{Slug: slug, Title: strings.TrimSpace(title), Text: strings.TrimSpace(text)})
	}
	return list
}

func (s *site) home(w http.ResponseWriter, r *http.Request) {
	render(w, "home", map[string]any{
		"Articles": s.articles,
		"Name":     s.accounts.name(r),
		"Count":    s.counters.value("demo"),
	})
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	for _, a := range s.articles {
		if a.Slug == slug {
			render(w, "page", map[string]any{"Article": a, "Paragraphs": strings.Split(a.Text, "\n\n")})
			return
		}
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("There is no page %q.", slug))
}

func (s *site) listArticles(w http.ResponseWriter, _ *http.Request) {
	list := make([]map[string]string, 0, len(s.articles))
	for _, a := range s.articles {
		list = append(list, map[string]string{"slug": a.Slug, "title": a.Title})
	}
	answer(w, map[string]any{"pages": list})
}

func render(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func answer(w http.ResponseWriter, value any) { reply(w, http.StatusOK, value) }

func refuse(w http.ResponseWriter, code int, message string) {
	reply(w, code, map[string]string{"error": message})
}

func reply(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	// The only failure left is a client that went away; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(value)
}

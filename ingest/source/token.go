package source

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// HasToken reports whether a request brings a token as "Authorization: Bearer
// TOKEN". All do where the token is empty.
func HasToken(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token == "" || strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// WithToken lets through what brings the token, and answers 401 to the rest.
func WithToken(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !HasToken(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply(w, http.StatusUnauthorized, Problem{Error: "this server wants Authorization: Bearer TOKEN"})
			return
		}
		h.ServeHTTP(w, r)
	})
}

package service

import (
	"net"
	"net/http"
	"strings"
)

// Here refuses requests that name another host than this machine: a page of another
// site, whose name was made to stand for loopback, would read what is served here, and so
// would whoever comes through a proxy that passes its own name on.
func Here(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && !ip.IsLoopback() {
			http.Error(w, "this page is served to this machine by its address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

package door

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
)

// mdnsName is the name under which the supervisor announces the house.
const mdnsName = "homeagent.local"

// hostList knows the names of this machine. A page of a stranger whose name
// suddenly resolves to our address (DNS rebinding) comes with a Host that is
// none of ours.
type hostList struct {
	names map[string]bool
	now   func() time.Time

	mu    sync.Mutex
	addrs map[netip.Addr]bool
	read  time.Time
}

// ownAddrsFor is how long the list of interface addresses is taken as current.
const ownAddrsFor = 10 * time.Second

func newHostList(extra []string, now func() time.Time) *hostList {
	l := &hostList{names: map[string]bool{"localhost": true, "localhost.localdomain": true, mdnsName: true, "homeagent": true}, now: now}
	if h, err := os.Hostname(); err == nil && h != "" {
		h = strings.ToLower(h)
		short, _, _ := strings.Cut(h, ".")
		l.names[h], l.names[short], l.names[short+".local"] = true, true, true
	}
	for _, h := range extra {
		if n, ok := hostName(h); ok {
			l.names[n] = true
		}
	}
	return l
}

// allows reports whether a request's Host is one of ours. local is the address
// that the connection reached, which is ours by definition.
func (l *hostList) allows(host string, local net.Addr) bool {
	name, ok := hostName(host)
	if !ok {
		return false
	}
	if l.names[name] {
		return true
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	a = a.Unmap().WithZone("")
	if a.IsLoopback() {
		return true
	}
	if t, ok := local.(*net.TCPAddr); ok && t.AddrPort().Addr().Unmap().WithZone("") == a {
		return true
	}
	return l.own(a)
}

func (l *hostList) own(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); l.addrs == nil || now.Sub(l.read) > ownAddrsFor || now.Before(l.read) {
		l.addrs, l.read = ownAddrs(), now
	}
	return l.addrs[a]
}

func ownAddrs() map[netip.Addr]bool {
	out := map[netip.Addr]bool{}
	as, err := net.InterfaceAddrs()
	if err != nil {
		return out // the address of the connection itself still counts
	}
	for _, a := range as {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				out[ip.Unmap().WithZone("")] = true
			}
		}
	}
	return out
}

// hostName is a Host header without its port, in lower case and without the
// dot at the end. It is false for what is no Host at all.
func hostName(host string) (string, bool) {
	if host == "" || len(host) > 255 || strings.ContainsAny(host, "@/\\ \t?#%,") {
		return "", false
	}
	name := host
	switch {
	case strings.HasPrefix(host, "["):
		end := strings.IndexByte(host, ']')
		if end < 0 || (end+1 < len(host) && host[end+1] != ':') || !digits(strings.TrimPrefix(host[end+1:], ":")) {
			return "", false
		}
		name = host[1:end]
	case strings.Count(host, ":") == 1:
		n, port, _ := strings.Cut(host, ":")
		if !digits(port) {
			return "", false
		}
		name = n
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	return name, name != "" && !strings.ContainsAny(name, "[]") && !strings.HasSuffix(name, ".")
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" && len(s) <= 5 }

// sameOrigin reports whether a request that changes something comes from the
// page this door served: no foreign Origin, no foreign Sec-Fetch-Site. A
// program other than a browser sends neither.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	for _, o := range r.Header.Values("Origin") {
		scheme, host, ok := strings.Cut(o, "://")
		if !ok || !strings.EqualFold(host, r.Host) || (scheme != "http" && scheme != "https") {
			return false
		}
	}
	return true
}

// pageURLs are the addresses to tell people for a listener.
func pageURLs(addr net.Addr) []string {
	t, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil
	}
	port := ""
	if t.Port != 80 {
		port = net.JoinHostPort("", itoa(t.Port))
	}
	if !t.IP.IsUnspecified() {
		host := t.IP.String()
		switch {
		case t.IP.IsLoopback():
			host = "localhost"
		case t.IP.To4() == nil:
			host = "[" + host + "]"
		}
		return []string{"http://" + host + port + "/"}
	}
	out := []string{"http://localhost" + port + "/"}
	as, err := net.InterfaceAddrs()
	if err != nil {
		return out
	}
	for _, a := range as {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			out = append(out, "http://"+n.IP.String()+port+"/")
		}
	}
	return out
}

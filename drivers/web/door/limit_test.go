package door

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	p := policy{free: 3, freeAll: 6, step: time.Second, most: 8 * time.Second, mostAll: 4 * time.Second, forget: time.Hour, maxPeers: 4, maxTrusted: 2}
	type step struct {
		do   string // take ADDR, ok ADDR, wait DURATION
		want time.Duration
	}
	for _, row := range []struct {
		name  string
		steps []step
	}{
		{"doubles up to the most", []step{
			{"take a", 0}, {"take a", 0}, {"take a", 0}, {"take a", time.Second},
			{"wait 1s", 0}, {"take a", 0}, {"take a", 2 * time.Second}, {"wait 2s", 0}, {"take a", 0}, {"take a", 4 * time.Second},
			{"wait 4s", 0}, {"take a", 0}, {"take a", 8 * time.Second}, {"wait 8s", 0}, {"take a", 0}, {"take a", 8 * time.Second},
		}},
		{"a refused attempt does not count", []step{
			{"take a", 0}, {"take a", 0}, {"take a", 0}, {"take a", time.Second}, {"take a", time.Second}, {"take a", time.Second},
		}},
		{"another address", []step{{"take a", 0}, {"take a", 0}, {"take a", 0}, {"take b", 0}}},
		{"success forgives", []step{{"take a", 0}, {"take a", 0}, {"ok a", 0}, {"take a", 0}, {"take a", 0}, {"take a", 0}, {"take a", time.Second}}},
		{"many addresses together", []step{
			{"take a", 0}, {"take b", 0}, {"take c", 0}, {"take d", 0}, {"take e", 0}, {"take f", 0}, {"take g", time.Second},
		}},
		{"strangers do not keep out who succeeded", []step{
			{"take a", 0}, {"ok a", 0}, {"take b", 0}, {"take c", 0}, {"take d", 0}, {"take e", 0}, {"take f", 0}, {"take g", 0},
			{"take h", time.Second}, {"take a", 0},
		}},
		{"forgets in time", []step{{"take a", 0}, {"take a", 0}, {"take a", 0}, {"wait 2h", 0}, {"take a", 0}, {"take a", 0}, {"take a", 0}, {"take a", time.Second}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClock()
			l := newLimiter(p, c.now)
			for i, s := range row.steps {
				do, arg, _ := strings.Cut(s.do, " ")
				addr := "192.0.2." + itoa(int(arg[0]))
				switch do {
				case "take":
					if got := l.take(addr); got != s.want {
						t.Fatalf("step %d, %s: wait %v, want %v", i, s.do, got, s.want)
					}
				case "ok":
					l.success(addr)
				case "wait":
					d, err := time.ParseDuration(arg)
					if err != nil {
						t.Fatal(err)
					}
					c.add(d)
				}
			}
			if len(l.peers) > p.maxPeers || len(l.trusted) > p.maxTrusted {
				t.Errorf("%d addresses, %d trusted", len(l.peers), len(l.trusted))
			}
		})
	}
}

func TestLimiterJudgesNetworksOfIPv6(t *testing.T) {
	l := newLimiter(policy{free: 1, freeAll: 100, step: time.Second, most: time.Minute, mostAll: time.Minute, forget: time.Hour, maxPeers: 4, maxTrusted: 2}, newClock().now)
	if l.take("2001:db8::1") != 0 || l.take("2001:db8::2") == 0 {
		t.Error("one machine has as many attempts as it has addresses")
	}
	if l.take("2001:db8:0:1::1") != 0 {
		t.Error("another network is judged with it")
	}
	if limitKey("::ffff:192.0.2.1") != limitKey("192.0.2.1") {
		t.Error("an IPv4 address counts twice")
	}
}

func TestHosts(t *testing.T) {
	l := newHostList([]string{"box.lan:8080", "Küche.lan", ""}, time.Now)
	local := &net.TCPAddr{IP: net.ParseIP("198.51.100.7"), Port: 80}
	for host, want := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1:8080": true, "127.8.9.1": true,
		"[::1]": true, "[::1]:8080": true, "homeagent.local": true, "homeagent.local:80": true, "box.lan": true, "box.lan:1": true,
		"198.51.100.7": true, "198.51.100.7:8080": true, "[::ffff:127.0.0.1]": true,
		"": false, "evil.example": false, "evil.example:8080": false, "203.0.113.1": false, "localhost.evil.example": false,
		"localhost@evil.example": false, "evil.example#localhost": false, "localhost:80:80": false, "[::1": false, "[::1]x": false,
		"localhost:http": false, "a b": false, "localhost/": false, "0.0.0.0": false, "[2001:db8::1]": false, "localhost,evil": false,
	} {
		if got := l.allows(host, local); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	as, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range as {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !l.allows(n.IP.String(), nil) {
			t.Errorf("own address %v is refused", n.IP)
		}
	}
}

func FuzzHostName(f *testing.F) {
	for _, s := range []string{"localhost:80", "[::1]:80", "a.b.", "[", "]:", "::1", "a@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, ok := hostName(s)
		if !ok {
			return
		}
		if name == "" || strings.ContainsAny(name, "@/\\ []#?") {
			t.Fatalf("%q gave %q", s, name)
		}
		if again, ok := hostName(name); !strings.Contains(name, ":") && (!ok || again != name) {
			t.Fatalf("%q gave %q, which gives %q", s, name, again)
		}
	})
}

func TestSameOrigin(t *testing.T) {
	for _, row := range []struct {
		name, host, origin, site string
		want                     bool
	}{
		{"no browser", "box:8080", "", "", true},
		{"own page", "box:8080", "http://box:8080", "", true},
		{"own page, https", "box", "https://box", "same-origin", true},
		{"typed address", "box", "", "none", true},
		{"foreign", "box", "http://evil", "", false},
		{"null", "box", "null", "", false},
		{"another port", "box:8080", "http://box", "", false},
		{"another scheme", "box", "file://box", "", false},
		{"own origin, foreign site", "box", "http://box", "cross-site", false},
	} {
		r := &http.Request{Host: row.host, Header: http.Header{}}
		if row.origin != "" {
			r.Header.Set("Origin", row.origin)
		}
		if row.site != "" {
			r.Header.Set("Sec-Fetch-Site", row.site)
		}
		if sameOrigin(r) != row.want {
			t.Errorf("%s: %v", row.name, !row.want)
		}
	}
}

func TestPageURLs(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:8080": "http://localhost:8080/", "192.0.2.3:80": "http://192.0.2.3/", "[2001:db8::5]:81": "http://[2001:db8::5]:81/"} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(pageURLs(a)); got != "["+want+"]" {
			t.Errorf("%s: %s", addr, got)
		}
	}
	if got := pageURLs(&net.TCPAddr{IP: net.IPv6zero, Port: 8080}); len(got) == 0 || got[0] != "http://localhost:8080/" {
		t.Errorf("everywhere: %q", got)
	}
}

func TestSetupCodesAreEasy(t *testing.T) {
	seen := map[string]bool{}
	for range 500 {
		c := newCode()
		if len(c) != setupLen || strings.Trim(c, setupLetters) != "" || seen[c] {
			t.Fatalf("code %q", c)
		}
		seen[c] = true
	}
	if strings.ContainsAny(setupLetters, "01OIL") {
		t.Error("a letter that is read wrongly")
	}
	if got := normalCode(" abcd–efgh\n"); got != "ABCDEFGH" {
		t.Errorf("typed code %q", got)
	}
}

package door

import (
	"net/netip"
	"sync"
	"time"
)

// policy says how failed attempts slow down the next one.
type policy struct {
	free       int           // failures of one address before it must wait
	freeAll    int           // failures of all addresses together
	step       time.Duration // the first wait; each further failure doubles it
	most       time.Duration // the longest wait of one address
	mostAll    time.Duration // the longest wait of all together
	forget     time.Duration // without an attempt for this long, all is forgotten
	maxPeers   int           // addresses remembered
	maxTrusted int           // addresses that have succeeded, remembered
}

// loginPolicy leaves room for a forgotten password and none for a dictionary:
// one address gets some 110 attempts a day, all together 1,500.
var loginPolicy = policy{
	free: 5, freeAll: 50, step: time.Second, most: 15 * time.Minute, mostAll: time.Minute,
	forget: 24 * time.Hour, maxPeers: 1024, maxTrusted: 64,
}

// strikes are the failures of one address.
type strikes struct {
	n     int
	until time.Time // no attempt before
	last  time.Time
}

// limiter slows guessing down by address and altogether. An address that has
// succeeded before is judged by its own failures alone, so that a stranger on
// the network cannot keep the owner out.
type limiter struct {
	policy policy
	now    func() time.Time

	mu      sync.Mutex
	peers   map[netip.Prefix]*strikes
	all     strikes
	trusted map[netip.Prefix]time.Time
}

func newLimiter(p policy, now func() time.Time) *limiter {
	return &limiter{policy: p, now: now, peers: map[netip.Prefix]*strikes{}, trusted: map[netip.Prefix]time.Time{}}
}

// take asks for one attempt and counts it as failed until success is called,
// so that many attempts at once do not slip through together. A wait above 0
// means no, and does not count.
func (l *limiter) take(addr string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, key := l.now(), limitKey(addr)
	p := l.peers[key]
	if p == nil || now.Sub(p.last) > l.policy.forget {
		p = &strikes{}
	}
	if now.Sub(l.all.last) > l.policy.forget {
		l.all = strikes{}
	}
	wait = p.until.Sub(now)
	_, known := l.trusted[key]
	if !known {
		wait = max(wait, l.all.until.Sub(now))
	}
	if wait > 0 {
		return wait
	}
	if l.peers[key] == nil {
		l.room()
	}
	l.peers[key] = p
	p.strike(now, l.policy.free, l.policy.step, l.policy.most)
	if !known {
		l.all.strike(now, l.policy.freeAll, l.policy.step, l.policy.mostAll)
	}
	return 0
}

func (s *strikes) strike(now time.Time, free int, step, most time.Duration) {
	s.n++
	s.last = now
	if over := s.n - free; over >= 0 {
		d := most
		if over < 30 {
			d = min(step<<over, most)
		}
		s.until = now.Add(d)
	}
}

// success forgives the address; its attempt no longer counts.
func (l *limiter) success(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limitKey(addr)
	delete(l.peers, key)
	if _, known := l.trusted[key]; !known && l.all.n > 0 {
		l.all.n--
	}
	if len(l.trusted) >= l.policy.maxTrusted {
		dropOldest(l.trusted, func(t time.Time) time.Time { return t })
	}
	l.trusted[key] = l.now()
}

// room drops the address whose last attempt is the oldest when the table is full.
func (l *limiter) room() {
	if len(l.peers) >= l.policy.maxPeers {
		dropOldest(l.peers, func(s *strikes) time.Time { return s.last })
	}
}

func dropOldest[V any](m map[netip.Prefix]V, at func(V) time.Time) {
	var oldest netip.Prefix
	var when time.Time
	for k, v := range m {
		if t := at(v); when.IsZero() || t.Before(when) {
			oldest, when = k, t
		}
	}
	delete(m, oldest)
}

// limitKey is the address, or the /64 of an IPv6 one, which one machine can
// fill at will.
func limitKey(addr string) netip.Prefix {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

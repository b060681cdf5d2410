package door

import (
	"context"
	"sync"
)

// liveSet knows the requests under way of each login, so that a logout, a
// deleted token or a changed password ends the streams that are still open.
type liveSet struct {
	mu   sync.Mutex
	next int
	by   map[string]map[int]context.CancelFunc
}

func newLiveSet() *liveSet { return &liveSet{by: map[string]map[int]context.CancelFunc{}} }

// add puts a request under its login's name and returns its context and what
// takes it out again. It is false where the login has most requests already.
func (l *liveSet) add(ctx context.Context, name string, most int) (context.Context, func(), bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.by[name]) >= most {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	if l.by[name] == nil {
		l.by[name] = map[int]context.CancelFunc{}
	}
	id := l.next
	l.next++
	l.by[name][id] = cancel
	return ctx, func() {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(l.by[name], id); len(l.by[name]) == 0 {
			delete(l.by, name)
		}
	}, true
}

// end ends every request of a login.
func (l *liveSet) end(names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		for _, cancel := range l.by[n] {
			cancel()
		}
	}
}

// endAll ends every request.
func (l *liveSet) endAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.by {
		for _, cancel := range m {
			cancel()
		}
	}
}

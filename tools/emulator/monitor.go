package emulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
)

// MonitorError is a command that QEMU refused.
type MonitorError struct {
	Command string
	Class   string `json:"class"`
	Desc    string `json:"desc"`
}

// Error implements error.
func (e *MonitorError) Error() string { return fmt.Sprintf("qemu %s: %s", e.Command, e.Desc) }

// ErrMonitorGone is a command to a machine that has ended.
var ErrMonitorGone = errors.New("qemu has ended")

// monitor speaks QMP. Events go to a function, replies to the one caller.
type monitor struct {
	conn    net.Conn
	mu      sync.Mutex // one command at a time
	replies chan reply
	ended   chan struct{}
}

// reply is what QEMU sends: a greeting, an event or the answer to a command.
type reply struct {
	Event  string          `json:"event"`
	Data   json.RawMessage `json:"data"`
	Return json.RawMessage `json:"return"`
	Error  *MonitorError   `json:"error"`
}

// newMonitor reads from conn until it ends; event is called for each event.
func newMonitor(conn net.Conn, event func(name string, data json.RawMessage)) *monitor {
	q := &monitor{conn: conn, replies: make(chan reply, 1), ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		for dec := json.NewDecoder(conn); ; {
			var r reply
			if err := dec.Decode(&r); err != nil {
				return
			}
			switch {
			case r.Event != "":
				event(r.Event, r.Data)
			case r.Return != nil || r.Error != nil:
				select {
				case q.replies <- r:
				default: // nobody waits: the caller gave up
				}
			}
		}
	}()
	return q
}

// run sends a command and decodes its answer into out, if that is not nil.
func (q *monitor) run(ctx context.Context, command string, args, out any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.replies: // the late answer to a command that was given up
	default:
	}
	b, err := json.Marshal(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
	}{command, args})
	if err != nil {
		return fmt.Errorf("qemu %s: %w", command, err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		q.conn.SetWriteDeadline(deadline)
	}
	if _, err := q.conn.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("qemu %s: %w: %w", command, ErrMonitorGone, err)
	}
	select {
	case r := <-q.replies:
		if r.Error != nil {
			r.Error.Command = command
			return r.Error
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(r.Return, out)
	case <-q.ended:
		return fmt.Errorf("qemu %s: %w", command, ErrMonitorGone)
	case <-ctx.Done():
		return fmt.Errorf("qemu %s: %w", command, ctx.Err())
	}
}

// close ends the connection and its goroutine.
func (q *monitor) close() {
	q.conn.Close()
	<-q.ended
}

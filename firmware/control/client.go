package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

// Client asks the supervisor. Each call opens its own connection.
type Client struct {
	// Path is the socket's.
	Path string
	// Timeout bounds a call whose context has no deadline; 0 is 10 s.
	Timeout time.Duration
}

// Refused is an error that the supervisor answered; its text is for people.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

// Call sends one request and decodes the reply's data into out, which may be nil.
func (c *Client) Call(ctx context.Context, req Request, out any) error {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.Path)
	if err != nil {
		return fmt.Errorf("no supervisor answers at %s; is homed running? %w", c.Path, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if len(line) >= MaxLine {
		return errors.New("control: the request is too large")
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	answer, err := readLine(bufio.NewReaderSize(conn, 64<<10))
	if err != nil {
		return fmt.Errorf("control: no answer: %w", err)
	}
	var rep Reply
	if err := json.Unmarshal(answer, &rep); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if !rep.OK {
		return &Refused{Text: rep.Error}
	}
	if out == nil || len(rep.Data) == 0 {
		return nil
	}
	return json.Unmarshal(rep.Data, out)
}

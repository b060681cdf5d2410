package clock

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/beevik/ntp"
)

// SNTP is a Query over the network for the clock c; the server is host or host:port.
func SNTP(c Clock) Query {
	return func(ctx context.Context, server string) (time.Duration, error) {
		timeout := askFor
		if end, ok := ctx.Deadline(); ok {
			timeout = min(timeout, time.Until(end))
		}
		var dialer net.Dialer
		res, err := ntp.QueryWithOptions(server, ntp.QueryOptions{
			Timeout: timeout, GetSystemTime: c.Now,
			Dialer: func(_, remote string) (net.Conn, error) { return dialer.DialContext(ctx, "udp", remote) },
		})
		if err != nil {
			return 0, err
		}
		if err := res.Validate(); err != nil {
			return 0, fmt.Errorf("its answer does not count: %w", err)
		}
		return res.ClockOffset, nil
	}
}

package control

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"time"

	"homeagent/firmware/words"
)

// Client asks the supervisor. Each call opens its own connection.
type Client struct {
	// Path is the socket's.
	Path string
	// Timeout bounds a call whose context has no deadline; 0 is 10 s.
	Timeout time.Duration
}

// Refused is an error that the supervisor answered; its text is for people, in
// the language of the request.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

// Call sends one request and decodes the reply's data into out, which may be nil.
// An error is *Refused or a *words.Error.
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
		return words.Errorf("%s 上没有监管进程应答；homed 在运行吗？请用 homed -data 文件夹 启动它，或用 -data 指明它的数据文件夹（%v）",
			"no supervisor answers at %s; is homed running? Start it with homed -data FOLDER, or name its folder with -data (%v)", c.Path, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if len(line) >= MaxLine {
		return words.Errorf("发送的内容太大，上限是 %d 字节；请缩短后再试", "control: the request is too large, %d bytes at most; make it shorter", MaxLine)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return broken(err)
	}
	answer, err := readLine(bufio.NewReaderSize(conn, 64<<10))
	if err != nil {
		return broken(err)
	}
	var rep Reply
	if err := json.Unmarshal(answer, &rep); err != nil {
		return garbled(err)
	}
	if !rep.OK {
		return &Refused{Text: rep.Error}
	}
	if out == nil || len(rep.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(rep.Data, out); err != nil {
		return garbled(err)
	}
	return nil
}

// broken is a call whose connection ended before the answer.
func broken(err error) *words.Error {
	return words.Errorf("监管进程没有回答（%v）；请再试一次，homectl logs 或系统日志会说明原因",
		"control: no answer (%v); try again, homectl logs or the system's log tells why", err)
}

// garbled is an answer of another version.
func garbled(err error) *words.Error {
	return words.Errorf("监管进程的回答看不懂（%v）；请让 homectl 与 homed 用同一个版本",
		"control: the answer cannot be read (%v); use homectl and homed of the same version", err)
}

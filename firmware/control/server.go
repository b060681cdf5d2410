package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// Peer is who is at the other end of a connection, as the kernel says.
type Peer struct {
	UID, PID int
}

// Handler answers one request. Data is marshalled into the reply; of an error
// the reply has the words in the request's language, see words.In.
type Handler interface {
	Handle(ctx context.Context, peer Peer, req Request) (data any, err error)
}

// Server listens on the socket.
type Server struct {
	ln      *net.UnixListener
	handler Handler
	log     *slog.Logger
	slots   chan struct{} // bounds the connections served at once
	wg      sync.WaitGroup
	mu      sync.Mutex
	conns   map[net.Conn]bool
	closed  bool
}

// connections that may be open at once, and how long one may stay silent.
const (
	maxConns    = 32
	idleTimeout = 2 * time.Minute
)

// Listen opens the socket at path with mode 0660, replacing a dead one. The
// caller holds the lock of the data folder, so no living supervisor loses its socket.
func Listen(path string, h Handler, log *slog.Logger) (*Server, error) {
	if len(path) > 100 {
		return nil, words.Errorf("套接字路径 %s 太长；请用 -data 换一个路径更短的数据文件夹",
			"control socket: the path %s is too long for a socket; choose a shorter data folder with -data", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, socketError(path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, socketError(path, err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, socketError(path, err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		ln.Close()
		return nil, socketError(path, err)
	}
	return &Server{ln: ln, handler: h, log: log, slots: make(chan struct{}, maxConns), conns: map[net.Conn]bool{}}, nil
}

func socketError(path string, err error) *words.Error {
	return words.Errorf("不能在 %s 建立控制套接字（%v）；请检查这个文件夹的权限，或用 -data 换一个数据文件夹",
		"control socket: %s cannot be opened (%v); check the folder's permissions, or give another data folder with -data", path, err)
}

// Serve answers until Close.
func (s *Server) Serve(ctx context.Context) {
	for {
		conn, err := s.ln.AcceptUnix()
		if err != nil {
			return
		}
		select {
		case s.slots <- struct{}{}:
		default:
			conn.Close()
			continue
		}
		if !s.track(conn) {
			conn.Close()
			return
		}
		s.wg.Go(func() {
			defer func() { <-s.slots; s.forget(conn) }()
			s.serve(ctx, conn)
		})
	}
}

func (s *Server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[c] = true
	}
	return !s.closed
}

func (s *Server) forget(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.Close()
}

// Close ends the listener and every connection and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.ln.Close()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) serve(ctx context.Context, conn *net.UnixConn) {
	peer, err := credentials(conn)
	if err != nil {
		s.log.Warn("control peer", "err", err)
		return
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		conn.SetDeadline(time.Now().Add(idleTimeout))
		line, err := readLine(in)
		if err != nil {
			return
		}
		var req Request
		var rep Reply
		if err := json.Unmarshal(line, &req); err != nil {
			rep.Error = words.Errorf("请求不是 JSON 对象（%v）；请每行发送一个，例如 {\"cmd\":\"status\"}",
				"the request is no JSON object (%v); send one a line, such as {\"cmd\":\"status\"}", err).In(req.Lang)
		} else if data, err := s.handler.Handle(ctx, peer, req); err != nil {
			rep.Error = words.In(err, req.Lang)
		} else if rep.Data, err = json.Marshal(data); err != nil {
			rep.Error = err.Error()
		} else {
			rep.OK = true
		}
		out, err := json.Marshal(rep)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(out, '\n')); err != nil {
			return
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, errors.New("control: line too long")
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

func credentials(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if cerr != nil {
		return Peer{}, cerr
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}

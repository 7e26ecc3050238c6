package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Try sends a request to a server and returns an error if the server does not treat it as its verdict demands. Then Try
// sends a second request, on the same connection if it is still open, else on a new one. The answer to it must repeat
// its X-Request-ID, which is id. If strict is false, the server may also refuse bad requests with any 4xx or 501, close
// the connection without an answer, or repair the requests.
func Try(addr string, r Request, id string, strict bool) error {
	conn, err := dial(addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, r.Raw); err != nil && !gone(err) {
		return err
	}
	in := bufio.NewReader(conn)
	again, err := judge(in, r, strict)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	if !again {
		_ = conn.Close()
		if conn, err = dial(addr); err != nil {
			return err
		}
		in.Reset(conn)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\n%sX-Request-ID: %s\r\n\r\n", Path, host, id); err != nil {
		return fmt.Errorf("%s: the second request: %w", r.Name, err)
	}
	res, err := read(in, http.MethodGet)
	if err != nil {
		return fmt.Errorf("%s: the second request: %w", r.Name, err)
	}
	if got := res.Header.Get("X-Request-ID"); got != id || res.StatusCode >= 500 {
		return fmt.Errorf("%s: the second request, %s, got the answer of %q: %s", r.Name, id, got, res.Status)
	}
	return nil
}

// judge reads the answers of one request and reports whether the connection may be used again.
func judge(in *bufio.Reader, r Request, strict bool) (again bool, err error) {
	if r.Before != "" {
		if res, err := read(in, http.MethodGet); err != nil || res.StatusCode >= 500 {
			return false, fmt.Errorf("the request before it: %v, %w", res, err)
		}
	}
	method, _, _ := strings.Cut(strings.TrimPrefix(r.Raw, r.Before), " ")
	if r.Verdict == Misframed {
		method = http.MethodHead // judge reads the body of the answer below, together with all that follows it
	}
	res, err := read(in, method)
	if err != nil {
		if r.Verdict == Sound || r.Verdict == Misframed && strict && !(gone(err) && len(r.Raw) > 4096) {
			return false, err
		}
		return false, nil // the server closed the connection without an answer, or before it had read all
	}
	status := res.StatusCode
	switch {
	case status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported:
		return false, errors.New(res.Status)
	case r.Verdict == Sound:
		if res.Close && strict {
			return false, errors.New("the server closed the connection after a sound request")
		}
		return !res.Close, nil
	case r.Verdict == Odd || !strict:
		return false, nil
	case status != http.StatusBadRequest && !strings.Contains(r.Name, "chunk: "): // a request with a sound head may get an answer
		return false, errors.New("unexpected answer " + res.Status)
	case status < 400:
		return false, errors.New("unexpected answer " + res.Status)
	}
	if more, err := io.ReadAll(in); strings.Contains(string(more), "HTTP/1.") || err != nil && !gone(err) {
		return false, fmt.Errorf("the refusal is followed by %.200q, %v", more, err)
	}
	return false, nil
}

// read reads one complete answer.
func read(in *bufio.Reader, method string) (*http.Response, error) {
	res, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res, err
}

func dial(addr string) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(30 * time.Second))
}

func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

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

// Try sends a request to a server, and reports what is not as the verdict says. Then it sends a second request, on the same
// connection if that may be used again, else on a new one, which must get its own answer: the server has to repeat
// its X-Request-ID, which is id. strict is false for a server that refuses bad requests in its own way, by any 4xx
// or 501 or without a word, or that makes good ones of them.
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
		method = http.MethodHead // the body of the answer is read with what comes after it
	}
	res, err := read(in, method)
	if err != nil {
		if r.Verdict == Sound || r.Verdict == Misframed && strict && !(gone(err) && len(r.Raw) > 4096) {
			return false, err
		}
		return false, nil // closed without a word, or with what it had not read yet
	}
	status := res.StatusCode
	switch {
	case status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported:
		return false, errors.New(res.Status)
	case r.Verdict == Sound:
		if res.Close && strict {
			return false, errors.New("the connection of a sound request is closed")
		}
		return !res.Close, nil
	case r.Verdict == Odd || !strict:
		return false, nil
	case status != http.StatusBadRequest && !strings.Contains(r.Name, "chunk: "): // whose head was sound, so it may be answered
		return false, errors.New("it is answered " + res.Status)
	case status < 400:
		return false, errors.New("it is answered " + res.Status)
	}
	if more, err := io.ReadAll(in); strings.Contains(string(more), "HTTP/1.") || err != nil && !gone(err) {
		return false, fmt.Errorf("after the refusal come %.200q, %v", more, err)
	}
	return false, nil
}

// read reads one answer whole.
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
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

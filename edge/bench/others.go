//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// othersLinks is the number of links in the other servers, which read them into a map at their start.
const othersLinks = 100_000

// foreign is another program's process.
type foreign struct {
	addr string
	cmd  *exec.Cmd
}

func (f *foreign) address(string) string { return f.addr }

// used reads the process's clock of processor time, which counts all threads.
func (f *foreign) used() (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: the time that the scheduler measured
	var t unix.Timespec
	err := unix.ClockGettime(int32(^f.cmd.Process.Pid<<3|scheduled), &t)
	return time.Duration(t.Nano()), err
}

func (f *foreign) stop() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// installed returns the path of a server: on the system, or where make bench unpacks or builds it. libraries is the folder of the
// libraries that come with it, if any.
func installed(name string) (program, libraries string, err error) {
	if program, err = exec.LookPath(name); err == nil {
		return program, "", nil
	}
	cache, missing := os.UserCacheDir()
	if missing != nil {
		return "", "", missing
	}
	for _, folder := range []string{"bench/servers/usr/sbin", "bench/servers/usr/bin", "bin"} {
		if found, err := exec.LookPath(filepath.Join(cache, "shortline", folder, name)); err == nil {
			folders, err := filepath.Glob(filepath.Join(cache, "shortline/bench/servers/usr/lib/*-linux-gnu"))
			return found, strings.Join(folders, ":"), err
		}
	}
	return "", "", err
}

// startOthers starts the other servers with the same links. Servers that cannot be started become notes. The caller must call stop.
func startOthers(s *settings, dir string) (all []contestant, notes []string, stop func()) {
	var started []*foreign
	stop = func() {
		for _, f := range started {
			f.stop()
		}
	}
	var pairs, table bytes.Buffer
	for i := range uint32(othersLinks) {
		slug := appendSlug(nil, classPlain, i)
		fmt.Fprintf(&pairs, "/%s %s;\n", slug, destination(i))
		fmt.Fprintf(&table, "/%s %s\n", slug, destination(i))
	}
	err := errors.Join(os.WriteFile(filepath.Join(dir, "links.nginx"), pairs.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, "links.haproxy"), table.Bytes(), 0o644))
	if err != nil {
		return nil, []string{err.Error()}, stop
	}
	for _, o := range []struct {
		name, what, program, config string
		args                        []string
		constant                    bool
	}{
		{"H2", "h2o, a constant redirect", "h2o", h2oConfig, []string{"-c"}, true},
		{"N1", "nginx, map of 100 k links, no log", "nginx", nginxConfig("access_log off;"+nginxMap, nginxMapped), nginxArgs(dir), false},
		{"N2", "nginx, the same with a JSON access log", "nginx", nginxConfig(nginxLog+nginxMap, nginxMapped), nginxArgs(dir), false},
		{"H1", "HAProxy, map of 100 k links, no log", "haproxy", haproxyConfig, []string{"-db", "-q", "-f"}, false},
		{"C1", "Caddy, a constant redirect, no log", "caddy", caddyConfig(dir, false), caddyArgs, true},
	} {
		f, err := startForeign(s, dir, o.name, o.program, o.config, o.args...)
		if err != nil {
			notes = append(notes, fmt.Sprintf("not compared with %s: %v", o.what, err))
			continue
		}
		started = append(started, f)
		all = append(all, contestant{scenario: scenario{Name: o.name, What: o.what,
			order: order{Status: "302", Links: othersLinks, Constant: o.constant}}, server: f})
	}
	return all, notes, stop
}

// startForeign writes a configuration, in which ADDR, DIR, NAME and DESTINATION are replaced, and starts a server with it on the
// servers' processor. It returns when the server accepts connections.
func startForeign(s *settings, dir, name, program, config string, args ...string) (*foreign, error) {
	program, libraries, err := installed(program)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	f := &foreign{addr: "127.0.0.1:" + port}
	path := filepath.Join(dir, name+".conf")
	config = strings.NewReplacer("ADDR", f.addr, "HOST", "127.0.0.1", "PORT", port, "DIR", dir, "NAME", name,
		"DESTINATION", destination(0)).Replace(config)
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return nil, err
	}
	f.cmd = exec.Command(program, append(args, path)...)
	f.cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var says bytes.Buffer
	f.cmd.Stderr = &says
	if err := held(s.cpus[0], f.cmd.Start); err != nil {
		return nil, err
	}
	accepts := func() error {
		c, err := net.Dial("tcp4", f.addr)
		if err != nil {
			return err
		}
		return c.Close()
	}
	if err := await(20*time.Second, time.Millisecond, accepts); err != nil {
		f.stop()
		return nil, fmt.Errorf("%w: %s", err, says.String())
	}
	return f, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// await calls try at intervals until it returns no error, and returns its last error if that takes too long.
func await(within, interval time.Duration, try func() error) error {
	for end := time.Now().Add(within); ; time.Sleep(interval) {
		if err := try(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

func nginxArgs(dir string) []string { return []string{"-p", dir, "-c"} }

// nginxConfig returns a configuration with some lines for all of HTTP, and those of the server.
func nginxConfig(http, server string) string {
	return `daemon off;
master_process off;
pid DIR/NAME.pid;
error_log DIR/NAME.error crit;
events { worker_connections 8192; }
http {
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  ` + http + `
  server {
    add_header Cache-Control "private, no-store";
    ` + server + `
  }
}
`
}

const (
	nginxMap = `
  keepalive_requests 1000000000;
  map_hash_max_size 1048576;
  map_hash_bucket_size 256;
  map $uri $destination { default ""; include DIR/links.nginx; }`
	nginxMapped = `listen ADDR;
    if ($destination = "") { return 404; }
    location / { return 302 $destination; }`
	nginxLog = `log_format json escape=json '{"time":"$time_iso8601","ip":"$remote_addr","uri":"$uri","status":$status,"agent":"$http_user_agent","referer":"$http_referer","language":"$http_accept_language","for":"$http_x_forwarded_for"}';
  access_log access.log json;`
)

// h2oConfig has one destination, because h2o compares a path with all paths of its configuration in turn.
const h2oConfig = `num-threads: 1
user: root
error-log: DIR/NAME.error
http1-request-timeout: 60
hosts:
  "default":
    listen:
      host: HOST
      port: PORT
    paths:
      "/":
        header.set: "Cache-Control: private, no-store"
        redirect:
          status: 302
          url: "DESTINATION"
`

const haproxyConfig = `global
  maxconn 1000
  nbthread 1
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  timeout http-keep-alive 60s
frontend links
  bind ADDR
  http-request set-var(txn.to) path,map_str(DIR/links.haproxy)
  http-request redirect code 302 location %[var(txn.to)] if { var(txn.to) -m found }
  http-request return status 404
`

//go:build linux

package main

import (
	"bytes"
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
	name, addr string
	cmd        *exec.Cmd
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

// debian lists the packages of the servers, and the libraries that small systems lack. If the servers are not
// installed, the packages are downloaded and unpacked into a cache folder. Nothing is installed.
var debian = []string{"nginx", "haproxy", "h2o", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1", "libyaml-0-2"}

// programs returns the paths of nginx and haproxy, and the folder of the libraries that they need, if any.
func programs() (nginx, haproxy, libraries string, err error) {
	nginx, errN := exec.LookPath("nginx")
	haproxy, errH := exec.LookPath("haproxy")
	if errN == nil && errH == nil {
		return nginx, haproxy, "", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", "", err
	}
	root := filepath.Join(cache, "shortline", "bench", "servers")
	nginx, haproxy = filepath.Join(root, "usr/sbin/nginx"), filepath.Join(root, "usr/sbin/haproxy")
	found, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if err == nil && len(found) > 0 {
		return nginx, haproxy, found[0], nil
	}
	fetch := "cd '" + root + "' && apt-get download " + strings.Join(debian, " ") +
		" && for p in *.deb; do dpkg -x \"$p\" . || exit 1; done && rm *.deb"
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", "", "", err
	}
	if out, err := exec.Command("sh", "-c", fetch).CombinedOutput(); err != nil {
		return "", "", "",
			fmt.Errorf("nginx and haproxy are not installed; on Debian or Ubuntu run: apt-get install nginx haproxy (%w: %s)", err,
				bytes.TrimSpace(out))
	}
	if found, err = filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu")); err != nil || len(found) == 0 {
		return "", "", "", fmt.Errorf("the packages of nginx and haproxy contain no libraries in %s", root)
	}
	return nginx, haproxy, found[0], nil
}

// startOthers starts the other servers with the same links. The caller must call stop.
func startOthers(s *settings, dir string) (all []contestant, stop func(), err error) {
	var started []*foreign
	stop = func() {
		for _, f := range started {
			f.stop()
		}
	}
	nginx, haproxy, libraries, err := programs()
	if err != nil {
		return nil, stop, err
	}
	var pairs, table bytes.Buffer
	for i := range uint32(othersLinks) {
		slug := appendSlug(nil, classPlain, i)
		fmt.Fprintf(&pairs, "/%s %s;\n", slug, destination(i))
		fmt.Fprintf(&table, "/%s %s\n", slug, destination(i))
	}
	if err := os.WriteFile(filepath.Join(dir, "links.nginx"), pairs.Bytes(), 0o644); err != nil {
		return nil, stop, err
	}
	if err := os.WriteFile(filepath.Join(dir, "links.haproxy"), table.Bytes(), 0o644); err != nil {
		return nil, stop, err
	}
	h2o := filepath.Join(filepath.Dir(nginx), "../bin/h2o")
	if found, err := exec.LookPath("h2o"); err == nil {
		h2o = found
	}
	for _, o := range []struct {
		name, what, program, config string
		args                        []string
	}{
		{"H2", "h2o, a constant redirect", h2o, strings.ReplaceAll(h2oConfig, "DESTINATION", destination(0)), []string{"-c"}},
		{"N1", "nginx, map of 100 k links, no log", nginx, nginxConfig("off"), []string{"-p", dir, "-c"}},
		{"N2", "nginx, the same with a JSON access log", nginx, nginxConfig("access.log json"), []string{"-p", dir, "-c"}},
		{"H1", "HAProxy, map of 100 k links, no log", haproxy, haproxyConfig, []string{"-db", "-q", "-f"}},
	} {
		f, err := startForeign(s, dir, o.name, o.program, o.config, libraries, o.args...)
		if f != nil {
			started = append(started, f)
		}
		if err != nil {
			return all, stop, fmt.Errorf("%s: %w", o.what, err)
		}
		all = append(all, contestant{scenario: scenario{Name: o.name, What: o.what, class: classPlain, status: "302", links: othersLinks,
			constant: o.name == "H2"}, server: f})
	}
	caddy, err := startCaddy(s, dir, false)
	if caddy != nil {
		started = append(started, caddy)
	}
	if err != nil {
		return all, stop, err
	}
	all = append(all, contestant{scenario: scenario{Name: "C1", What: "Caddy, a constant redirect, no log", class: classPlain,
		status: "302",
		links:  othersLinks, constant: true}, server: caddy})
	return all, stop, nil
}

// startForeign writes a configuration, in which ADDR, DIR and NAME are replaced, and starts a server with it on the servers'
// processor. It returns when the server accepts connections.
func startForeign(s *settings, dir, name, program, config, libraries string, args ...string) (*foreign, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	f := &foreign{name: name, addr: "127.0.0.1:" + port}
	path := filepath.Join(dir, name+".conf")
	config = strings.NewReplacer("ADDR", f.addr, "HOST", "127.0.0.1", "PORT", port, "DIR", dir, "NAME", name).Replace(config)
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
		return f, fmt.Errorf("%s: %w: %s", name, err, says.String())
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

func nginxConfig(log string) string {
	return `daemon off;
master_process off;
pid DIR/NAME.pid;
error_log DIR/NAME.error crit;
events { worker_connections 1024; }
http {
  log_format json escape=json '{"time":"$time_iso8601","ip":"$remote_addr","uri":"$uri","status":$status,"agent":"$http_user_agent","referer":"$http_referer","language":"$http_accept_language","for":"$http_x_forwarded_for"}';
  access_log ` + log + `;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  keepalive_requests 1000000000;
  map_hash_max_size 1048576;
  map_hash_bucket_size 256;
  map $uri $destination { default ""; include DIR/links.nginx; }
  server {
    listen ADDR;
    add_header Cache-Control "private, no-store";
    if ($destination = "") { return 404; }
    location / { return 302 $destination; }
  }
}
`
}

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

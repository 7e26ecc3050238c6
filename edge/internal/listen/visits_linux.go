package listen

import (
	"bytes"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/conns"
	"golang.org/x/sys/unix"
)

const (
	// visitBatch is how many visits are answered before other goroutines get the processor.
	visitBatch = 32
	// listenPlace marks events of the listening socket.
	listenPlace = -1
)

// visits is the loop of a port: it accepts connections, keeps them, and answers their simple requests. One goroutine does this for all
// connections. It waits with an epoll instance of its own, which is registered with the runtime's poller, so the goroutine does not
// occupy a thread while it waits.
//
// Sockets are plain file descriptors until the server needs a connection: see promote.
type visits struct {
	owner  *Listener
	port   int      // the listening socket
	poller *os.File // an epoll instance with port and the connections in idle
	wait   syscall.RawConn
	idle   *idleConns

	// Used only by the goroutine of admit.
	*answerer
	in      []byte
	conn    conn // stands for the connection whose request is answered
	peer    net.TCPAddr
	events  [64]unix.EpollEvent
	backlog bool // more connections may wait to be accepted
	failed  error

	postponed []postponed    // connections with more requests than are answered in a turn
	unsent    []reply        // of this turn; they wait until they may be sent
	settlers  sync.WaitGroup // wait for those of earlier turns
	apart     atomic.Int64   // connections that are postponed or have such replies

	stopping atomic.Bool
	state    atomic.Int32  // one of the constants below
	ended    chan struct{} // closed when the port is closed
}

// States of visits.
const (
	notBegun = iota
	begun
	neverBegins
)

// newVisits takes the socket of a port from ln, which must not be used any more, except for its address. It returns nil if
// ln is no TCP port.
func (l *Listener) newVisits(ln net.Listener) (*visits, error) {
	tcp, ok := ln.(*net.TCPListener)
	if !ok || l.pending.answerers.New == nil || l.proxied != nil {
		return nil, nil
	}
	port, err := duplicate(tcp)
	if err != nil {
		return nil, err
	}
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.SetNonblock(poller, true) // otherwise os.NewFile would not use the runtime's poller
	}
	if err == nil {
		err = unix.EpollCtl(poller, unix.EPOLL_CTL_ADD, port, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: listenPlace})
	}
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("epoll", err), unix.Close(port))
	}
	v := &visits{
		owner: l, answerer: l.pending.answerers.New().(*answerer), port: port, poller: os.NewFile(uintptr(poller), "visits"),
		idle: newIdleConns(poller), in: make([]byte, mostHead), ended: make(chan struct{}), backlog: true,
	}
	v.conn = conn{owner: l, from: &v.peer}
	if v.wait, err = v.poller.SyscallConn(); err != nil {
		return nil, errors.Join(err, v.poller.Close(), unix.Close(port))
	}
	// Both sockets are the same one for the kernel, and the other one would wake the runtime for each connection.
	return v, tcp.Close()
}

// duplicate returns another descriptor of a listening socket. Connections that the socket accepts inherit its options.
func duplicate(tcp *net.TCPListener) (port int, err error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := raw.Control(func(fd uintptr) {
		if port, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return
		}
		// The system hands over a connection when its first bytes have arrived, or after about a second without any. That
		// saves a wake-up and a failed read. Without the option, everything works too, so an error is none.
		_ = unix.SetsockoptInt(port, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 1)
		_ = unix.SetsockoptInt(port, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	})
	return port, os.NewSyscallError("dup", errors.Join(outer, err))
}

// admit accepts and answers until stop is called or the port fails, and returns the error. It returns after all
// connections that wait for their first request have been answered or given to the server.
func (v *visits) admit() error {
	if !v.state.CompareAndSwap(notBegun, begun) {
		return net.ErrClosed
	}
	for turn := 0; ; turn++ {
		err := v.wait.Read(v.turn)
		switch {
		case v.failed != nil:
			err = v.failed
		case v.stopping.Load():
			err = net.ErrClosed
		case err == nil:
			v.rest(turn)
			continue
		}
		v.finish()
		return err
	}
}

// rest gives the processor to other goroutines. Gosched leaves this one runnable. While goroutines are runnable, the
// scheduler does not ask the kernel for the data of other connections, so every other rest is a short sleep.
func (v *visits) rest(turn int) {
	if turn%2 == 0 {
		runtime.Gosched()
	} else {
		time.Sleep(time.Microsecond)
	}
}

// turn answers the visits that have arrived, up to a limit. It returns false to wait for more.
func (v *visits) turn(poller uintptr) bool {
	if v.stopping.Load() {
		return true
	}
	n, errno := poll(poller, v.events[:])
	if errno != 0 && errno != syscall.EINTR {
		v.failed = os.NewSyscallError("epoll_wait", errno)
		return true
	}
	now := int64(time.Since(start))
	v.handle(v.events[:n], now)
	if v.backlog {
		v.accept(now)
	}
	v.proceed(now)
	v.flush()
	return v.failed != nil || v.backlog || n == len(v.events) || len(v.postponed) > 0
}

// handle handles what the poller has reported.
func (v *visits) handle(events []unix.EpollEvent, now int64) {
	for i := range events {
		if e := &events[i]; e.Fd == listenPlace {
			v.backlog = true
		} else if fd, k, ok := v.idle.take(e, &v.peer); ok {
			v.wake(kept{fd, e.Fd, &v.peer}, k, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0, now)
		}
	}
}

// accept accepts connections, up to a limit.
func (v *visits) accept(now int64) {
	for range visitBatch {
		if !v.owner.pending.shedder.MakeRoom() {
			time.Sleep(conns.Pause)
			return // try again in the next turn
		}
		fd, errno := accept(v.port, &v.peer)
		switch {
		case errno == 0:
			v.wake(kept{fd, -1, &v.peer}, silent, false, now)
		case errno == syscall.EAGAIN:
			v.backlog = false
			return
		case transient(errno):
			if errno != syscall.ECONNABORTED && errno != syscall.EINTR {
				time.Sleep(conns.Pause)
			}
		default:
			v.failed, v.backlog = os.NewSyscallError("accept4", errno), false
			return
		}
	}
}

// kept is a connection that the loop handles: a socket, and its place among the connections that wait, or -1 for a new one.
type kept struct {
	fd    int
	place int32
	peer  *net.TCPAddr // the client's address
}

// reply is what a connection gets, and what follows.
type reply struct {
	kept
	out, rest []byte // the answers, and the requests that they do not answer
	stays     bool
	more      bool   // there are further requests, or may be
	mark      uint32 // as in conn
	began     time.Time
	wait      func() []byte // before out may be sent: see Settle
}

// wake handles a connection that is new, or for which bytes have arrived. If last is true, the client has ended its side, and the
// connection ends after the answers: the poller does not report the end twice.
func (v *visits) wake(c kept, k kind, last bool, now int64) {
	n, errno := receive(uintptr(c.fd), v.in)
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		v.keep(c, k, now)
	case errno != 0 || n == 0:
		v.drop(c)
	default:
		v.visit(c, v.in[:n], last || v.stopping.Load(), now)
	}
}

// keep lets a connection wait.
func (v *visits) keep(c kept, k kind, now int64) {
	if c.place < 0 {
		v.park(c.fd, k, c.peer, now)
	} else if !v.idle.requeue(c.place, k, now) {
		v.drop(c)
	}
}

// drop closes a connection, which also removes it from the poller.
func (v *visits) drop(c kept) {
	if c.place >= 0 {
		v.idle.leave(c.place)
	}
	closeSocket(c.fd)
}

// part takes a connection away from the loop and returns its socket.
func (v *visits) part(c kept) int {
	if c.place >= 0 {
		v.idle.leave(c.place)
		v.idle.forget(c.fd)
	}
	return c.fd
}

// park adds the socket of a client to those that wait. Any goroutine may call it.
func (v *visits) park(fd int, k kind, peer *net.TCPAddr, now int64) {
	if v.idle.park(fd, k, peer, now) != nil {
		closeSocket(fd) // the port is closing, or the system has no memory for one more
	}
}

// visit answers the requests that have arrived together, up to mostAnswers, with one write. If the first one is not simple, it gives the
// connection to the server.
func (v *visits) visit(k kept, packet []byte, last bool, now int64) {
	// A full buffer usually ends within a request. The rest is in the kernel.
	var r requests
	if n := r.track(packet); n < len(packet) || !r.tracker.Between() && n < len(v.in) {
		v.promote(v.part(k), packet)
		return
	}
	if !v.answerSome(k, packet, last, false, now) {
		v.promote(v.part(k), packet)
	}
}

// answerSome answers the requests at the beginning of a packet, up to mostAnswers. It returns false, and has done nothing, if the first
// request is not simple or not complete. own means that the packet is not in v.in.
func (v *visits) answerSome(k kept, packet []byte, last, own bool, now int64) bool {
	c := &v.conn
	c.mark = 0
	rest, stays := v.all(c, packet, last)
	if len(v.out) == 0 {
		return false
	}
	more := own || len(rest) > 0 || len(packet) == len(v.in)
	if more && !own {
		rest = bytes.Clone(rest)
	}
	r := reply{kept: k, out: v.out, rest: rest, stays: stays, more: more, mark: c.mark, began: c.began, wait: v.settle()}
	if r.wait != nil {
		v.hold(r)
	} else {
		v.deliver(r, now)
	}
	return true
}

// deliver sends a reply, and lets the connection wait, ends it, or gives it to the server.
func (v *visits) deliver(r reply, now int64) {
	for len(r.out) > 0 {
		n, errno := send(uintptr(r.fd), r.out)
		switch {
		case errno == 0:
			r.out = r.out[n:]
		case errno == syscall.EAGAIN:
			v.sendRest(v.part(r.kept), r)
			return
		case errno != syscall.EINTR:
			v.drop(r.kept)
			return
		}
	}
	v.owner.reportTime(r.mark, r.began)
	switch {
	case !r.stays:
		v.drop(r.kept)
	case r.more && r.wait == nil && !v.stopping.Load():
		v.postpone(r.kept, r.rest)
	case len(r.rest) > 0:
		v.promote(v.part(r.kept), r.rest)
	default:
		v.keep(r.kept, idle, now)
	}
}

// hold keeps a reply for flush. Meanwhile the connection is in no queue.
func (v *visits) hold(r reply) {
	r.kept = v.detach(r.kept)
	r.out = bytes.Clone(r.out)
	v.unsent = append(v.unsent, r)
}

// flush begins to send the replies of a turn that wait. The first of them usually waits for all of them, with one sync. The loop does
// not wait.
func (v *visits) flush() {
	if len(v.unsent) == 0 {
		return
	}
	replies := v.unsent
	v.unsent = nil
	v.settlers.Go(func() {
		for _, r := range replies {
			if refusal := r.wait(); refusal != nil {
				r.out, r.stays = refusal, false
			}
			v.deliver(r, int64(time.Since(start)))
			v.apart.Add(-1)
		}
	})
}

// promote makes a connection of a socket, and gives it to the server as soon as its first request, of which b has arrived,
// is complete.
func (v *visits) promote(fd int, b []byte) {
	if c := v.owner.adopt(fd); c != nil {
		c.buffered = append(c.buffered, b...)
		v.owner.pending.busy.Add(1)
		go v.owner.introduce(c)
	}
}

// introduce gives a connection that a loop has kept to the server.
func (l *Listener) introduce(c *conn) {
	c.first = true
	c.move(&c.readBy, l.timeouts.Read, 0)
	l.prepare(newcomer{c, l.pending.shedder.Opened(c)}, nil)
}

// sendRest sends the rest of the answers for which the send buffer has no room. Meanwhile the loop does not have the connection.
func (v *visits) sendRest(fd int, r reply) {
	l := v.owner
	c := l.adopt(fd)
	if c == nil {
		return
	}
	c.move(&c.writeBy, l.timeouts.Write, l.timeouts.Read)
	c.buffered = append(c.buffered, r.rest...)
	out, stays := bytes.Clone(r.out), r.stays && !v.stopping.Load()
	l.pending.busy.Add(1)
	go func() {
		_, err := c.Write(out) // an error means that the client has left, or does not read
		if err == nil && stays && len(c.buffered) > 0 {
			_ = c.SetWriteDeadline(time.Time{}) // an error means that the connection is closed
			l.introduce(c)
			return
		}
		defer l.pending.busy.Done()
		if err != nil || !stays || !c.park() {
			_ = c.Close()
		}
	}()
}

// adopt makes a connection of a socket. It returns nil, and closes the socket, if that fails.
func (l *Listener) adopt(fd int) *conn {
	_ = unix.SetNonblock(fd, false) // or os.NewFile would register the socket with the poller, only to remove it again
	file := os.NewFile(uintptr(fd), "visit")
	raw, err := net.FileConn(file)
	_ = file.Close()
	if err != nil {
		return nil
	}
	c, err := l.wrap(raw)
	if err != nil {
		return nil
	}
	return c
}

// park lets the connection wait in a loop, and reports whether it does.
func (c *conn) park() bool {
	fd, errno := -1, error(nil)
	err := c.socket.Control(func(own uintptr) { fd, errno = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || errno != nil {
		return false
	}
	c.owner.forget(c)
	_ = c.Conn.Close() // the socket stays open, because it has another descriptor
	var peer net.TCPAddr
	v := c.owner.visits[fd%len(c.owner.visits)]
	if peerOf(fd, &peer) != 0 { // the client has left
		closeSocket(fd)
		return true
	}
	v.park(fd, idle, &peer, int64(time.Since(start)))
	return true
}

// finish answers the connections that the system has already accepted, closes the port, and then waits for the connections
// that have not sent their first request.
func (v *visits) finish() {
	now := int64(time.Since(start))
	for v.failed == nil {
		fd, errno := accept(v.port, &v.peer)
		if errno == 0 {
			v.wake(kept{fd, -1, &v.peer}, silent, false, now)
		} else if errno != syscall.ECONNABORTED && errno != syscall.EINTR {
			break // usually EAGAIN: none is left
		}
	}
	v.flush()
	_ = unix.Close(v.port)
	close(v.ended)
	v.idle.refuseIdle()
	for v.idle.close(idle, int64(time.Since(start))) {
	}
	for len(v.postponed) > 0 {
		v.proceed(now)
	}
	v.flush()
	for v.idle.count.Load() > 0 {
		n, _ := poll(uintptr(v.idle.poller), v.events[:])
		v.handle(v.events[:n], int64(time.Since(start)))
		v.flush()
		if n == 0 {
			time.Sleep(conns.Pause)
		}
	}
	v.settlers.Wait()
	_ = v.poller.Close()
}

// stop closes the port. It returns when the port is closed; admit may go on for as long as clients may take for their first
// request.
func (v *visits) stop() error {
	if v.stopping.Swap(true) {
		return nil
	}
	if v.state.CompareAndSwap(notBegun, neverBegins) {
		close(v.ended)
		return errors.Join(unix.Close(v.port), v.poller.Close())
	}
	_ = v.poller.SetReadDeadline(past) // an error means that admit has ended already
	<-v.ended
	return nil
}

// expire closes the connections that have waited for too long.
func (v *visits) expire(now int64) {
	for k, timeout := range [...]time.Duration{silent: v.owner.timeouts.Read, idle: v.owner.timeouts.Idle} {
		for timeout > 0 && v.idle.close(kind(k), now-int64(timeout+interval)) {
		}
	}
}

// makeRoom closes the connection that has waited longest for its first request, or else one that is idle. It reports
// whether it closed one. See AwaitHeads for the limits.
func (v *visits) makeRoom() bool {
	now := int64(time.Since(start))
	return v.idle.close(silent, now-int64(conns.Grace)) || v.idle.close(idle, now-int64(conns.IdleFor))
}

// waiting returns the number of connections that the loop keeps.
func (v *visits) waiting() int { return int(v.idle.count.Load() + v.apart.Load()) }

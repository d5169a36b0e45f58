package embedded

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// guard stands before the engine's native port and lets only logins through
// that will succeed. The engine aborts its whole process when a native
// handshake fails, be it a wrong password, a port scan or a client that
// resets the connection, so it must never see one fail. After the handshake
// the guard only copies bytes, in the kernel where the system can.
type guard struct {
	listener net.Listener
	engine   string // host:port
	users    map[string][sha256.Size]byte
}

const (
	helloTimeout   = 10 * time.Second
	maxHelloString = 1024 // names, a database and a password are far shorter
	authFailed     = 516  // ClickHouse's AUTHENTICATION_FAILED
)

func newGuard(listener net.Listener, engine string, users []User) *guard {
	g := &guard{listener: listener, engine: engine, users: map[string][sha256.Size]byte{}}
	for _, u := range users {
		g.users[u.Name] = sha256.Sum256([]byte(u.Password))
	}
	return g
}

// serve accepts until the listener is closed.
func (g *guard) serve() {
	for {
		conn, err := g.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go g.handle(conn.(*net.TCPConn))
		}
	}
}

func (g *guard) handle(client *net.TCPConn) {
	defer client.Close()
	var sent bytes.Buffer // all that was read of the client so far
	_ = client.SetReadDeadline(time.Now().Add(helloTimeout))
	user, password, err := readHello(bufio.NewReader(io.TeeReader(client, &sent)))
	if err != nil {
		return
	}
	if !g.knows(user, password) {
		_, _ = client.Write(exception(authFailed,
			user+": Authentication failed: password is incorrect, or there is no user with such name"))
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	conn, err := net.Dial("tcp", g.engine)
	if err != nil {
		return
	}
	engine := conn.(*net.TCPConn)
	defer engine.Close()
	if _, err := engine.Write(sent.Bytes()); err != nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(client, engine)
		// The client is gone or the engine is done. Reading on keeps the
		// system from resetting a connection the engine still writes to.
		_ = client.Close()
		_, _ = io.Copy(io.Discard, engine)
	}()
	_, _ = io.Copy(engine, client)
	_ = engine.CloseWrite()
	<-answered
}

func (g *guard) knows(user, password string) bool {
	want, ok := g.users[user]
	got := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && ok
}

var errNotHello = errors.New("not a native client's hello")

// readHello reads a client's first packet: kind 0, its name, three version
// numbers, the database, the user and the password.
func readHello(r *bufio.Reader) (user, password string, err error) {
	if kind, err := binary.ReadUvarint(r); err != nil || kind != 0 {
		return "", "", errNotHello
	}
	if _, err := readString(r); err != nil {
		return "", "", err
	}
	for range 3 {
		if _, err := binary.ReadUvarint(r); err != nil {
			return "", "", err
		}
	}
	if _, err := readString(r); err != nil {
		return "", "", err
	}
	if user, err = readString(r); err != nil {
		return "", "", err
	}
	password, err = readString(r)
	return user, password, err
}

func readString(r *bufio.Reader) (string, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return "", err
	}
	if n > maxHelloString {
		return "", errNotHello
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}

// exception is the packet by which a server refuses: kind 2, the code, the
// error's name, its message, an empty stack trace and no nested one.
func exception(code uint32, message string) []byte {
	b := []byte{2}
	b = binary.LittleEndian.AppendUint32(b, code)
	for _, s := range []string{"DB::Exception", "DB::Exception: " + message, ""} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return append(b, 0)
}

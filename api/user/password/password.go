// Package password hashes passwords with argon2id, checks them, and says which are too weak to be taken. A hash carries
// its parameters ($argon2id$v=19$m=65536,t=3,p=1$SALT$HASH), so that they can be changed: Stale says of one that it was
// made with others. Only so many hashes are made at once, as each takes tens of megabytes, and of them few for one
// network, so that nobody has all of them. All is safe for concurrent use.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Bounds of a password.
const (
	Least = 12   // characters
	Most  = 1000 // bytes
)

// Config says what a hash costs.
type Config struct {
	MemoryKiB uint32
	Time      uint32 // passes
	AtOnce    int    // hashes that are worked on at the same time
}

// DefaultConfig is the second choice of RFC 9106, section 4, on one lane: 64 MiB, three passes.
func DefaultConfig() Config { return Config{MemoryKiB: 64 << 10, Time: 3, AtOnce: 2} }

const (
	saltSize, hashSize = 16, 32
	// What a stored hash may ask for at most, so that a damaged one cannot exhaust the memory.
	mostMemoryKiB, mostTime = 1 << 20, 100
)

// ErrBroken says that what is stored is no hash.
var ErrBroken = errors.New("the stored hash of a password is damaged")

// ErrBusy says that too many wait already: trying later is better than waiting.
var ErrBusy = errors.New("too many passwords are being checked")

// Who waits: a network's requests stand in a line of their own, of which two at a time wait for a turn, or have it,
// among those of all networks.
const (
	mostWaiting = 32 // of all networks
	mostOfOne   = 2  // of one network, among those
	mostInLine  = 16 // of one network, in its line and beyond it
)

// Hasher makes and checks hashes.
type Hasher struct {
	cfg     Config
	turns   chan struct{}
	waiting atomic.Int64  // for a turn, or at work
	empty   func() string // a hash of nothing that anybody knows

	mu    sync.Mutex
	lines map[string]*line // of networks that have somebody in theirs; guarded by mu
}

// line is the line of a network.
type line struct {
	in    int // guarded by Hasher.mu
	heads chan struct{}
}

// New makes a hasher.
func New(cfg Config) *Hasher {
	h := &Hasher{cfg: cfg, turns: make(chan struct{}, max(1, cfg.AtOnce)), lines: map[string]*line{}}
	h.empty = sync.OnceValue(func() string { return h.write(cfg, make([]byte, saltSize), make([]byte, hashSize)) })
	return h
}

// Hash makes the hash of a password, for somebody of a network. It waits for its turn, until ctx ends; ErrBusy says
// that there are too many before it.
func (h *Hasher) Hash(ctx context.Context, network, password string) (string, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	sum, err := h.sum(ctx, network, h.cfg, salt, password)
	if err != nil {
		return "", err
	}
	return h.write(h.cfg, salt, sum), nil
}

// Check says whether a password that somebody of a network sent has a hash. Without a hash it takes as long, and says
// no. It waits as Hash does.
func (h *Hasher) Check(ctx context.Context, network, password, hash string) (bool, error) {
	nobody := hash == ""
	if nobody {
		hash = h.empty()
	}
	cfg, salt, want, err := read(hash)
	if err != nil {
		return false, err
	}
	if len(password) > Most {
		password = password[:Most] + "…" // which nobody has, and costs no more
	}
	sum, err := h.sum(ctx, network, cfg, salt, password)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, want) == 1 && !nobody, nil
}

// Stale says whether a hash was made with other parameters than those that hold now.
func (h *Hasher) Stale(hash string) bool {
	cfg, _, _, err := read(hash)
	return err == nil && (cfg.MemoryKiB != h.cfg.MemoryKiB || cfg.Time != h.cfg.Time)
}

func (h *Hasher) sum(ctx context.Context, network string, cfg Config, salt []byte, password string) ([]byte, error) {
	leave, err := h.stand(ctx, network)
	if err != nil {
		return nil, err
	}
	defer leave()
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > mostWaiting {
		return nil, ErrBusy
	}
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, givenUp(ctx)
	}
	defer func() { <-h.turns }()
	return argon2.IDKey([]byte(password), salt, cfg.Time, cfg.MemoryKiB, 1, hashSize), nil
}

// stand stands in the line of a network until its head, and returns how to leave that.
func (h *Hasher) stand(ctx context.Context, network string) (leave func(), err error) {
	h.mu.Lock()
	l := h.lines[network]
	if l == nil {
		l = &line{heads: make(chan struct{}, mostOfOne)}
		h.lines[network] = l
	}
	full := l.in >= mostInLine
	if !full {
		l.in++
	}
	h.mu.Unlock()
	if full {
		return nil, ErrBusy
	}
	out := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if l.in--; l.in == 0 {
			delete(h.lines, network)
		}
	}
	select {
	case l.heads <- struct{}{}:
		return func() { <-l.heads; out() }, nil
	case <-ctx.Done():
		out()
		return nil, givenUp(ctx)
	}
}

// givenUp says why somebody waits no more: there were too many before them, unless they went away.
func givenUp(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrBusy
	}
	return fmt.Errorf("wait to hash a password: %w", ctx.Err())
}

func (h *Hasher) write(cfg Config, salt, sum []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, cfg.MemoryKiB, cfg.Time,
		b64.EncodeToString(salt), b64.EncodeToString(sum))
}

func read(hash string) (cfg Config, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cfg, nil, nil, ErrBroken
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=1", &cfg.MemoryKiB, &cfg.Time); err != nil ||
		cfg.MemoryKiB < 8 || cfg.MemoryKiB > mostMemoryKiB || cfg.Time < 1 || cfg.Time > mostTime {
		return cfg, nil, nil, ErrBroken
	}
	salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	if err == nil {
		sum, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	if err != nil || len(salt) < 8 || len(sum) != hashSize {
		return cfg, nil, nil, ErrBroken
	}
	return cfg, salt, sum, nil
}

//go:embed common.txt
var commonText string

var common = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, line := range strings.Fields(commonText) {
		all[line] = true
	}
	return all
})

// Fault says in words why a password is not taken, and "" if it is. own are names of the person, which must not be all
// of it.
func Fault(password string, own ...string) string {
	plain := strings.ToLower(strings.TrimSpace(password))
	switch {
	case utf8.RuneCountInString(password) < Least:
		return fmt.Sprintf("needs at least %d characters; a few words that nobody would put together are best", Least)
	case len(password) > Most:
		return fmt.Sprintf("must not be longer than %d bytes", Most)
	case !utf8.ValidString(password) || strings.ContainsFunc(password, func(r rune) bool { return r < ' ' }):
		return "must not hold control characters"
	case len(distinct(plain)) < 5:
		return "repeats too few characters; choose another"
	case common()[plain] || common()[strings.TrimRight(plain, "0123456789!?.")] || run(plain):
		return "is among those that are tried first; choose another"
	}
	for _, name := range own {
		if name = strings.ToLower(strings.TrimSpace(name)); len(name) > 3 && strings.Trim(strings.ReplaceAll(plain, name, ""),
			"0123456789!?.-_ ") == "" {
			return "is made of your name or address; choose another"
		}
	}
	return ""
}

func distinct(text string) map[rune]bool {
	all := map[rune]bool{}
	for _, r := range text {
		all[r] = true
	}
	return all
}

// run says whether a text is a run along the alphabet, the digits or a row of keys, forwards or backwards.
func run(text string) bool {
	for _, row := range []string{"abcdefghijklmnopqrstuvwxyz", "12345678901234567890", "qwertyuiopasdfghjklzxcvbnm",
		"1q2w3e4r5t6y7u8i9o0p", "1qaz2wsx3edc4rfv5tgb"} {
		for _, way := range []string{row, reversed(row)} {
			if strings.Contains(way, text) {
				return true
			}
		}
	}
	return false
}

func reversed(text string) string {
	letters := []byte(text)
	for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
		letters[i], letters[j] = letters[j], letters[i]
	}
	return string(letters)
}

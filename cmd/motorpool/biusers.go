package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/bi"
	"github.com/motorpool/fleet/deploy/embedded"
)

// biUsersFile keeps the users for analysts of the embedded engine, which reads its users when it starts.
const biUsersFile = "bi-users.json"

// biUser is a user for analysts.
type biUser struct {
	Name      string    `json:"name"`
	Account   string    `json:"account_id"`
	SHA256    string    `json:"password_sha256,omitempty"` // in hex
	CreatedAt time.Time `json:"created_at,omitzero"`
	RotatedAt time.Time `json:"rotated_at,omitzero"`
}

// readBIUsers returns the users that a data folder keeps.
func readBIUsers(data string) ([]biUser, error) {
	path := filepath.Join(data, biUsersFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []biUser
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// changeBIUsers replaces the users that a data folder keeps by what change makes of them. It waits for others who
// change them.
func changeBIUsers(data string, change func([]biUser) ([]biUser, error)) error {
	path := filepath.Join(data, biUsersFile)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	all, err := readBIUsers(data)
	if err == nil {
		all, err = change(all)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return writeSecret(path, string(text))
}

// newPassword makes a password and its SHA-256 in hex, which is all that is kept of it.
func newPassword() (word, sum string) {
	word = rand.Text() + rand.Text()
	digest := sha256.Sum256([]byte(word))
	return word, hex.EncodeToString(digest[:])
}

// embeddedUser says to the embedded engine who a user for analysts is. The engine knows the user by a password that
// only the gate has.
func (u biUser) embeddedUser(tables, password string) (embedded.User, error) {
	account, err := fleet.ParseID(fleet.AccountPrefix, u.Account)
	if err != nil {
		return embedded.User{}, fmt.Errorf("user %s: %w", u.Name, err)
	}
	user := embedded.User{Name: u.Name, Password: password, Locked: true, Settings: bi.Settings, Limits: bi.Limits,
		Choices: bi.Choices}
	for _, r := range bi.Rights(tables) {
		user.Grants = append(user.Grants, r.Grant())
	}
	for _, p := range bi.Policies(tables, fleet.AccountID(account)) {
		user.Filters = append(user.Filters, embedded.RowFilter(p))
	}
	return user, nil
}

// biGate is the way of analysts to the embedded engine.
type biGate struct {
	users []embedded.User
	known map[string]engineUser
	data  string
	gate  *embedded.Gate
}

// engineUser is a user as the engine knows them until its next start: its policies are those of this account, whoever
// has the name by now.
type engineUser struct {
	biUser
	password string // which only the gate has
}

// newBIGate reads who may come in.
func newBIGate(s *settings) (*biGate, error) {
	all, err := readBIUsers(s.Data)
	if err != nil {
		return nil, err
	}
	g := &biGate{known: map[string]engineUser{}, data: s.Data}
	for _, u := range all {
		word := rand.Text() + rand.Text()
		user, err := u.embeddedUser(s.DB.Database, word)
		if err != nil {
			return nil, err
		}
		g.users, g.known[u.Name] = append(g.users, user), engineUser{u, word}
	}
	return g, nil
}

// open lets the users in who stand in the data folder at the time, with the passwords of that time.
func (g *biGate) open(addr, engine string, log *slog.Logger) error {
	if len(g.users) == 0 {
		return nil
	}
	gate, err := embedded.OpenGate(embedded.GateConfig{Addr: addr, Engine: engine, Logger: log,
		Guest: func(name string) (embedded.Guest, bool) {
			guest, ok, err := g.guest(name)
			if err != nil {
				log.Error("users for analysts cannot be read", "error", err)
			}
			return guest, ok
		}})
	if err != nil {
		return fmt.Errorf("%w; give --bi-http", err)
	}
	g.gate = gate
	return nil
}

// guest returns the user of a name who stands in the data folder at the time. The engine lets them in only if they are
// whom it knows by that name.
func (g *biGate) guest(name string) (guest embedded.Guest, ok bool, err error) {
	all, err := readBIUsers(g.data)
	i := slices.IndexFunc(all, func(u biUser) bool { return u.Name == name })
	if err != nil || i < 0 {
		return embedded.Guest{}, false, err
	}
	guest.SHA256 = all[i].SHA256
	if e := g.known[name]; e.Account == all[i].Account && e.CreatedAt.Equal(all[i].CreatedAt) {
		guest.Engine = e.password
	}
	return guest, true, nil
}

// close ends the gate, if it was opened.
func (g *biGate) close() {
	if g != nil && g.gate != nil {
		_ = g.gate.Close()
	}
}

// names are those of the users who can come in.
func (g *biGate) names() string {
	var all []string
	for _, u := range g.users {
		all = append(all, u.Name)
	}
	return strings.Join(all, ", ")
}

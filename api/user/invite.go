package user

import (
	"context"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/user/password"
)

// InvitationPath is the page that sets a password.
const InvitationPath = "/signin/invitation"

// Invite has a person choose a password by a link, which is good for seven days, and once. It returns what the link
// ends with; only its hash is kept. A password that there was opens nothing any more, and all sessions end.
func Invite(b *record.User, account fleet.AccountID, id uint64, now time.Time) (token string) {
	text := secret()
	b.Invitation, b.InvitedUntil = auth.Hash(text), record.InstantOf(now.Add(Invitation))
	b.PasswordHash, b.PasswordSetAt = "", record.Instant{}
	b.EndSessions(now)
	return strconv.FormatUint(uint64(account), 36) + "." + strconv.FormatUint(id, 36) + "." + text
}

// Link is the address of an invitation at a server.
func Link(server, token string) string {
	return strings.TrimRight(server, "/") + InvitationPath + "?token=" + url.QueryEscape(token)
}

// ResetFactors takes everything beside the password away that a person proves who they are with, and ends all sessions.
func ResetFactors(b *record.User, now time.Time) {
	b.TOTPSealed, b.TOTPPending, b.TOTPSince, b.TOTPStep = "", "", record.Instant{}, 0
	b.Recovery, b.Passkeys = nil, nil
	b.EndSessions(now)
}

// SetPassword gives a person a password, which somebody of a network sent, and ends all sessions. What is wrong with it
// is a *fleet.Error.
func SetPassword(ctx context.Context, hasher *password.Hasher, network string, b *record.User, text string,
	now time.Time) error {
	if fault := password.Fault(text, b.Name, b.Email); fault != "" {
		return fleet.Invalid(fleet.FieldError{Pointer: "/password", Code: "invalid", Detail: fault})
	}
	hash, err := hasher.Hash(ctx, network, text)
	if err != nil {
		return err
	}
	b.PasswordHash, b.PasswordSetAt = hash, record.InstantOf(now)
	b.EndSessions(now)
	b.Invitation, b.InvitedUntil = "", record.Instant{}
	return nil
}

// SetRole gives a person a role. An invitation to one that may do less is no good any more.
func SetRole(b *record.User, role string) {
	if rises(b.Role, role) {
		b.Invitation, b.InvitedUntil = "", record.Instant{}
	}
	b.Role = role
}

// rises says whether a role may do what another may not.
func rises(from, to string) bool { return !auth.Role(from).Covers(auth.Role(to)) }

// CheckFields says what is wrong with what callers write of a person, beyond what its schema says.
func CheckFields(f *record.UserFields) []fleet.FieldError {
	var faults []fleet.FieldError
	if at, err := mail.ParseAddress(f.Email); err != nil || at.Address != f.Email || !strings.Contains(f.Email, "@") {
		faults = append(faults, fleet.FieldError{Pointer: "/email", Code: "invalid",
			Detail: "is not an address, as ann@example.com is"})
	}
	if !auth.Role(f.Role).Known() {
		faults = append(faults, fleet.FieldError{Pointer: "/role", Code: "invalid",
			Detail: "must be owner, manager, clerk, analyst or driver"})
	}
	return faults
}

// invited returns the person whom an invitation is for; false if it is none that is good.
func (a *API) invited(ctx context.Context, token string) (rec record.Record[record.User], ok bool, err error) {
	parts := strings.SplitN(token, ".", 3)
	if len(parts) != 3 || len(token) > 200 {
		return rec, false, nil
	}
	account, err1 := strconv.ParseUint(parts[0], 36, 64)
	id, err2 := strconv.ParseUint(parts[1], 36, 64)
	if err1 != nil || err2 != nil || account == 0 || id == 0 {
		return rec, false, nil
	}
	rec, err = a.users.Get(ctx, fleet.AccountID(account), id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return rec, false, nil
	}
	return rec, err == nil && a.opens(&rec, parts[2]), err
}

// opens says whether an invitation's secret is that of a person who may still take it up.
func (a *API) opens(rec *record.Record[record.User], secret string) bool {
	b := &rec.Body
	return auth.Matches(secret, b.Invitation) && !rec.Archived() && !b.Disabled && a.Now().Before(b.InvitedUntil.Time)
}

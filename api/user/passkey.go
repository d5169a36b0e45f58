package user

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Passkeys (WebAuthn, level 3). A browser asks for a challenge and has an authenticator sign it; what that makes is
// taken once, by the browser or session that asked, within ceremonyLasts by the clock of this server. A passkey that
// looked at who holds it (user verification) signs in alone; after the password any of a person's does.

// MostPasskeys is how many a person has at most.
const MostPasskeys = 20

const (
	ceremonyLasts = 5 * time.Minute
	ceremonyKept  = time.Hour // for which it is known that a challenge was used: longer than it lasts, by any clock
	passkeyField  = "user.passkey.challenge"
	mostPasskey   = 4 << 10 // bytes of what is kept of one
)

// What a challenge is for.
const (
	toRegister = "register"
	toSignIn   = "sign in"
	toFinish   = "finish" // the sign-in that the password began
)

// notTaken says that what a passkey made is not taken: to people, and as a word to the audit.
type notTaken struct{ fault, reason string }

func (e *notTaken) Error() string { return "passkey not taken: " + e.reason }

var (
	errLate    = &notTaken{"That took too long, or was used before. Try again.", "passkey_late"}
	errOther   = &notTaken{"This passkey opens nothing here. Use another one, or your password.", "wrong_passkey"}
	errUnseen  = &notTaken{"This passkey did not check who you are. Use your password, and this passkey after it.", "passkey_unverified"}
	errCopied  = &notTaken{"This passkey may have been copied: its count went back. Sign in another way, and remove it.", "passkey_copied"}
	errFull    = &notTaken{fmt.Sprintf("Nobody has more than %d passkeys. Remove one before.", MostPasskeys), "passkeys_full"}
	errPresent = &notTaken{"This passkey is known here already.", "passkey_present"}
)

// relyingParty is this server as passkeys know it: its configured address; or without one, on the machine itself,
// localhost with the port at which the request came in. What a request says of its host decides nothing. It is nil
// where browsers have no passkeys: without encryption elsewhere, or at an address that is no name.
func (a *API) relyingParty(r *http.Request) *webauthn.WebAuthn {
	at, err := url.Parse(a.address(r))
	if err != nil {
		return nil
	}
	if a.Settings.PublicURL == "" {
		if !a.here(r) {
			return nil
		}
		at.Host = "localhost:" + at.Port()
	}
	name := strings.ToLower(at.Hostname())
	if name == "" || at.Scheme != "https" && name != "localhost" {
		return nil
	}
	origin := at.Scheme + "://" + name
	if port := at.Port(); port != "" && at.Scheme+port != "https443" && at.Scheme+port != "http80" {
		origin += ":" + port
	}
	rp, err := webauthn.New(&webauthn.Config{RPID: name, RPDisplayName: "Motorpool", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationPreferred},
		Timeouts: webauthn.TimeoutsConfig{Login: webauthn.TimeoutConfig{Timeout: ceremonyLasts},
			Registration: webauthn.TimeoutConfig{Timeout: ceremonyLasts}}})
	if err != nil {
		return nil // the name is an address in numbers
	}
	return rp
}

// holder is a person as the library asks for them.
type holder struct {
	handle      []byte
	name, email string
	keys        []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return h.handle }
func (h *holder) WebAuthnName() string                       { return h.email }
func (h *holder) WebAuthnDisplayName() string                { return h.name }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.keys }

func holderOf(account fleet.AccountID, id uint64, b *record.User) (*holder, error) {
	h := &holder{name: b.Name, email: b.Email, keys: make([]webauthn.Credential, len(b.Passkeys)),
		handle: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(account)), id)}
	for i, p := range b.Passkeys {
		if err := json.Unmarshal(p.Credential, &h.keys[i]); err != nil {
			return nil, fmt.Errorf("read the passkey %s: %w", p.ID, err)
		}
	}
	return h, nil
}

// opensAlone says whether a person has a passkey that signs in by itself: one that looked at who held it when it was
// made.
func opensAlone(b *record.User) bool {
	h, err := holderOf(0, 0, b)
	return err == nil && slices.ContainsFunc(h.keys, func(key webauthn.Credential) bool { return key.Flags.UserVerified })
}

// personOf takes the handle apart that an authenticator keeps of a person; zeros if it is none.
func personOf(handle []byte) (fleet.AccountID, uint64) {
	if len(handle) != 16 {
		return 0, 0
	}
	return fleet.AccountID(binary.BigEndian.Uint64(handle)), binary.BigEndian.Uint64(handle[8:])
}

// ceremony is what is kept of a challenge.
type ceremony struct {
	For   string               `json:"for"`
	By    string               `json:"by"` // the browser or session that asked
	Until time.Time            `json:"until"`
	Data  webauthn.SessionData `json:"data"`
}

// pose keeps a challenge until it is answered.
func (a *API) pose(ctx context.Context, what, by string, data *webauthn.SessionData) error {
	until := a.Now().Add(ceremonyLasts)
	detail, err := json.Marshal(ceremony{what, by, until, *data})
	if err != nil {
		return fmt.Errorf("write a challenge: %w", err)
	}
	first, err := a.Store.Put(ctx, passkeyField, data.Challenge, 0, string(detail), until.Add(ceremonyKept))
	if err == nil && !first {
		err = errors.New("write a challenge: it is there already")
	}
	return err
}

// answered returns what is to be held against the answer to a challenge, which is used by that. The error is errLate
// unless it was asked for this by who answers, is not over, and nobody answered before.
func (a *API) answered(ctx context.Context, what, by, challenge string) (webauthn.SessionData, error) {
	var asked ceremony
	once, err := a.Store.Find(ctx, passkeyField, challenge)
	if err != nil {
		return asked.Data, err
	}
	if once == nil || by == "" {
		return asked.Data, errLate
	}
	first, err := a.Store.Use(ctx, once, a.Now().Add(ceremonyKept))
	if err != nil {
		return asked.Data, err
	}
	if err := json.Unmarshal([]byte(once.Detail), &asked); err != nil {
		return asked.Data, fmt.Errorf("read a challenge: %w", err)
	}
	if !first || asked.For != what || asked.By != by || !a.Now().Before(asked.Until) {
		return asked.Data, errLate
	}
	return asked.Data, nil
}

// madeCredential is what an authenticator made for a person who asked for it in their session, checked.
func (a *API) madeCredential(r *http.Request, rp *webauthn.WebAuthn, v *visitor) (*record.Passkey, error) {
	sent, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.PostForm.Get("credential")))
	if err != nil {
		return nil, errOther
	}
	asked, err := a.answered(r.Context(), toRegister, v.session.ID.String(), sent.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil, err
	}
	// With none asked for, browsers tell where it comes from by itself or not at all.
	if format := sent.Response.AttestationObject.Format; format != "none" && format != "packed" {
		return nil, errOther
	}
	h, err := holderOf(v.Account, v.ID, &v.Body)
	if err != nil {
		return nil, err
	}
	made, err := rp.CreateCredential(h, asked, sent)
	if err != nil {
		a.Log.InfoContext(r.Context(), "passkey not registered", "error", err, "user", fleet.UserID(v.ID).String())
		return nil, errOther
	}
	if !bytes.Equal(made.ID, sent.RawID) {
		return nil, errOther // it would be found by another name than it was made under
	}
	// Where it comes from was not asked, and is not kept.
	made.Attestation, made.AttestationType, made.AttestationFormat = webauthn.CredentialAttestation{}, "none", "none"
	kept, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("write a passkey: %w", err)
	}
	if len(kept) > mostPasskey {
		return nil, errOther
	}
	return &record.Passkey{ID: fleet.FormatID(fleet.PasskeyPrefix, a.Store.NextID()),
		Name: passkeyName(r.PostForm.Get("name")), CredentialID: credentialID(made.ID),
		AddedAt: record.InstantOf(a.Now()), Credential: kept}, nil
}

func credentialID(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// addPasskey gives a person a passkey. The first second factor comes with recovery codes, which are returned, and ends
// all sessions: they were begun with less.
func (a *API) addPasskey(b *record.User, made *record.Passkey) (codes []string, err error) {
	if len(b.Passkeys) >= MostPasskeys {
		return nil, errFull
	}
	if slices.ContainsFunc(b.Passkeys, func(p record.Passkey) bool { return p.CredentialID == made.CredentialID }) {
		return nil, errPresent
	}
	if !asksMore(b) {
		b.EndSessions(a.Now())
	}
	if len(b.Recovery) == 0 {
		codes, b.Recovery = newRecovery()
	}
	b.Passkeys = append(slices.Clone(b.Passkeys), *made)
	b.TOTPPending = "" // it was begun when the password alone was asked for
	return codes, nil
}

// dropPasskey takes a passkey of a person away, and ends all sessions; false if they have none of that id.
func (a *API) dropPasskey(b *record.User, id string) bool {
	i := slices.IndexFunc(b.Passkeys, func(p record.Passkey) bool { return p.ID == id })
	if i < 0 {
		return false
	}
	b.Passkeys = slices.Delete(slices.Clone(b.Passkeys), i, i+1)
	if !asksMore(b) {
		b.Recovery = nil
	}
	b.EndSessions(a.Now())
	return true
}

// takeAssertion takes what a passkey of a person signed, which was asked for by a challenge, so that it is good for the
// body that is written with it. alone says that nothing else was proved.
func (a *API) takeAssertion(rp *webauthn.WebAuthn, account fleet.AccountID, id uint64, b *record.User,
	asked webauthn.SessionData, sent *protocol.ParsedCredentialAssertionData, alone bool) error {
	i := slices.IndexFunc(b.Passkeys, func(p record.Passkey) bool { return p.CredentialID == credentialID(sent.RawID) })
	if i < 0 {
		return errOther
	}
	h, err := holderOf(account, id, b)
	if err != nil {
		return err
	}
	var used *webauthn.Credential
	if alone {
		// One that looked at nobody when it was made would be anybody's who sets a PIN on it now.
		if !h.keys[i].Flags.UserVerified || !sent.Response.AuthenticatorData.Flags.HasUserVerified() {
			return errUnseen
		}
		_, used, err = rp.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return h, nil }, asked, sent)
	} else {
		used, err = rp.ValidateLogin(h, asked, sent)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errOther, err)
	}
	if used.Authenticator.CloneWarning {
		return errCopied
	}
	kept, err := json.Marshal(used)
	if err != nil {
		return fmt.Errorf("write a passkey: %w", err)
	}
	b.Passkeys = slices.Clone(b.Passkeys)
	b.Passkeys[i].Credential, b.Passkeys[i].LastUsedAt = kept, record.InstantOf(a.Now())
	return nil
}

// notePasskeyRefused notes that a passkey of a person was presented and not taken.
func (a *API) notePasskeyRefused(r *http.Request, rec *record.Record[record.User], err error) {
	why, ok := errors.AsType[*notTaken](err)
	if !ok {
		return
	}
	reason, id := why.reason, fleet.UserID(rec.ID).String()
	switch {
	case rec.Archived():
		reason = "removed"
	case rec.Body.Disabled:
		reason = "disabled"
	}
	a.Noted(r.Context(), auth.Use{Account: rec.Account, Actor: id, Credential: id, Kind: "passkey", Act: auth.Refused,
		Reason: reason, Client: a.ClientAddr(r), At: a.Now()})
	a.Log.InfoContext(r.Context(), "passkey not taken", "user", id, "error", err, "client", a.network(r))
}

// passkeyName is what a person calls a passkey.
func passkeyName(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if runes := []rune(text); len(runes) > longestName {
		text = string(runes[:longestName])
	}
	if text == "" {
		return "Passkey"
	}
	return text
}

const longestName = 60

package account

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// CredentialAct is a row of the audit of credentials, as it is answered.
type CredentialAct struct {
	Object       string         `json:"object" enum:"credential_act" example:"credential_act"`
	At           record.Instant `json:"at" doc:"Of what is counted by the hour, the first time in it."`
	LastAt       record.Instant `json:"last_at" doc:"Of what is counted, the last time in the hour, as it was last stored; else as at."`
	CredentialID string         `json:"credential_id" example:"key_1234"`
	Kind         string         `json:"kind" doc:"What it was done with: api_key, webhook_secret, oauth_client, oauth_grant, session; of a person user (what they may do), password, invitation, totp (their app for codes), recovery_codes, passkey; and those that come later." example:"api_key"`
	Act          string         `json:"act" enum:"created,changed,rotated,revoked,sealed,used,refused" doc:"created: and its secret was shown, this once; changed: in what it may do, or from where; rotated: another secret takes its place; revoked: it opens nothing, or will not from some instant on; sealed: its secret was sealed with another key of the server, and nobody saw it; used: requests were let in by it; refused: it is a real one, was presented, and opened nothing."`
	Reason       *string        `json:"reason" nullable:"true" doc:"Why it was refused: expired, revoked, address_not_allowed, wrong_password, wrong_totp, wrong_passkey, passkey_copied, passkey_unverified, passkey_late, disabled; by what a session was begun: password, code, recovery_code, passkey, renewed; why it ended: signed_out, ended, replaced, all_ended; of a person what an act was: role, email, disabled, enabled, removed, invited, withdrawn, invitation_accepted, password, reset, app_added, app_removed, codes_made, code_used, passkey_added, passkey_removed; and others that come later. Null if there is nothing to say." example:"expired"`
	Actor        string         `json:"actor" doc:"Who did it: a credential, a user, cli for the operator's command line, system for ourselves. Of a refusal as whom it was tried." example:"key_1234"`
	Client       *string        `json:"client" nullable:"true" doc:"The address it came from; null if there is none, or if there were too many in the hour to tell them apart." example:"192.0.2.1"`
	Count        uint64         `json:"count" doc:"How often in the hour; 1 of what is not counted." example:"42"`
}

func (a *API) auditRoutes() {
	acts := make([]string, len(auth.Acts))
	for i, act := range auth.Acts {
		acts[i] = string(act)
	}
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/credential_audit", ID: "listCredentialActs", Tag: "API keys",
		Scope: auth.KeysManage, Summary: "List what was done with credentials",
		About: "Newest first, for 400 days, or for the `retention_days` of the account if they are fewer: every creation, change, rotation and " +
			"revocation of a credential, its uses, and its refusals. Uses and refusals are counted: a row for each credential, address and hour " +
			"of UTC. The first of an hour shows within seconds, the count within minutes. A credential that nobody has is nobody's, " +
			"and stands in no audit. There is never a secret in it.\n\n" +
			"A sign-in is the creation of a `session` by a user, and a sign-out its revocation. What is given wrong at a sign-in is " +
			"a refusal of the `password` or the code (`totp`) of a user, counted too; of an address that nobody has none is.",
		Params: slices.Concat([]rest.Param{
			{Name: "credential_id", NotEmpty: true, About: "Of this credential."},
			{Name: "act", NotEmpty: true, Enum: acts, Multiple: true, About: "Of these acts."},
			{Name: "actor", NotEmpty: true, About: "By this actor."},
			{Name: "client", NotEmpty: true, About: "From this address."},
			{Name: "from", Format: "date-time", About: "From this instant, inclusive."},
			{Name: "until", Format: "date-time", About: "Up to this instant, exclusive."},
		}, rest.PageParams),
		Reply: rest.List[CredentialAct]{},
	}, a.listActs)
}

func (a *API) listActs(w http.ResponseWriter, r *http.Request) error {
	const list = "credential_audit"
	f := query.CredentialActFilter{Account: auth.From(r.Context()).Account, From: rest.TimeParam(r, "from", 0),
		To: rest.TimeParam(r, "until", 0), Credential: rest.TextParam(r, "credential_id", ""),
		Actor: rest.TextParam(r, "actor", ""), Acts: rest.ListParam(r, "act")}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return err
	}
	if text := rest.TextParam(r, "client", ""); text != "" {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return rest.InvalidParam("client", "is not an address, as 192.0.2.1 or 2001:db8::1 is")
		}
		f.Client = addr.Unmap().String()
	}
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	if f.AfterAt, f.AfterID, err = p.Behind(); err != nil {
		return err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	found, total, err := query.CredentialActs(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	var after []string
	if len(found) > p.PerPage {
		found = found[:p.PerPage]
		after = rest.AfterOf(found[p.PerPage-1].First, found[p.PerPage-1].ID)
	}
	data := make([]CredentialAct, len(found))
	for i, act := range found {
		data[i] = CredentialAct{Object: "credential_act", At: record.InstantOf(act.First.Time()),
			LastAt: record.InstantOf(act.Last.Time()), CredentialID: act.Credential, Kind: act.Kind, Act: act.Act,
			Reason: rest.TextOrNull(act.Reason), Actor: act.Actor, Client: rest.TextOrNull(act.Client), Count: act.Count}
	}
	return rest.WriteList(w, r, list, p, data, total, after)
}

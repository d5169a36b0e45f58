package account

import (
	"context"
	"maps"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// follow has the audit know what becomes of records that are credentials, or have some. It follows from their
// revisions, whoever writes them, so that no crash loses it, and is the same when it is done again.
func (u *audit) follow(store *record.Store) {
	then := func(kind, credential string, acts func(record.Written) ([]auth.Use, error)) {
		store.Beside(kind, "audit of credentials", func(ctx context.Context, w record.Written) error {
			found, err := acts(w)
			if err != nil || len(found) == 0 {
				return err
			}
			var lines []line
			for _, use := range found {
				use.Account, use.Actor, use.Credential = w.Account, w.Actor, fleet.FormatID(w.Prefix, w.ID)
				use.Client, use.At, use.Item = auth.AddressOf(ctx), w.At, w.Revision
				if use.Kind == "" {
					use.Kind = credential
				}
				lines = append(lines, lineOf(use))
			}
			return writeLines(ctx, u.db, lines)
		})
	}
	then(record.APIKeys.Name, "api_key", actsOfKey)
	then(record.WebhookEndpoints.Name, "webhook_secret", actsOfEndpoint)
	then(record.Users.Name, "user", actsOfUser)
	then(record.OAuthClients.Name, "oauth_client", actsOfClient)
	then(record.OAuthGrants.Name, "oauth_grant", actsOfGrant)
}

func actsOfKey(w record.Written) ([]auth.Use, error) {
	before, after, err := record.Bodies[record.APIKey](w)
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return []auth.Use{{Act: auth.Created}}, nil
	case !after.RevokedAt.IsZero() && !after.RevokedAt.Equal(before.RevokedAt.Time):
		return []auth.Use{{Act: auth.Revoked}}, nil
	case after.RotatedTo != before.RotatedTo:
		return []auth.Use{{Act: auth.Rotated}}, nil
	}
	return []auth.Use{{Act: auth.Changed}}, nil
}

// actsOfEndpoint looks at the secrets that messages are signed with and at the headers, which are secrets too. Where an
// endpoint is, and what it hears of, is no credential.
func actsOfEndpoint(w record.Written) ([]auth.Use, error) {
	before, after, err := record.Bodies[record.WebhookEndpoint](w)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return []auth.Use{{Act: auth.Created}}, nil
	}
	if w.Action == record.ActionArchive {
		return []auth.Use{{Act: auth.Revoked}}, nil
	}
	had := map[string]string{}
	for _, s := range before.Secrets {
		had[s.ID] = s.Sealed
	}
	var rotated, sealed bool
	for _, s := range after.Secrets {
		was, known := had[s.ID]
		rotated = rotated || !known
		sealed = sealed || known && was != s.Sealed
	}
	var acts []auth.Use
	if rotated {
		acts = append(acts, auth.Use{Act: auth.Rotated})
	}
	if sealed {
		acts = append(acts, auth.Use{Act: auth.Sealed})
	} else if !maps.Equal(before.Headers, after.Headers) {
		acts = append(acts, auth.Use{Act: auth.Changed})
	}
	return acts, nil
}

// actsOfUser looks at what a person may do and at what they prove who they are with. That they signed in, and failed
// to, the pages note, which know by what.
func actsOfUser(w record.Written) (acts []auth.Use, err error) {
	before, after, err := record.Bodies[record.User](w)
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return []auth.Use{{Act: auth.Created}}, nil
	case w.Action == record.ActionArchive:
		return []auth.Use{{Act: auth.Revoked, Reason: "removed"}}, nil
	}
	// Each has another word: the key of the table tells acts of one revision apart by that, and not by their kinds.
	note := func(happened bool, kind string, act auth.Act, word string) {
		if happened {
			acts = append(acts, auth.Use{Kind: kind, Act: act, Reason: word})
		}
	}
	note(before.Role != after.Role, "user", auth.Changed, "role")
	note(before.Email != after.Email, "user", auth.Changed, "email")
	note(!before.Disabled && after.Disabled, "user", auth.Revoked, "disabled")
	note(before.Disabled && !after.Disabled, "user", auth.Changed, "enabled")

	chosen := after.PasswordHash != "" && !after.PasswordSetAt.Equal(before.PasswordSetAt.Time)
	invited := before.Invitation != "" && w.Actor == fleet.FormatID(w.Prefix, w.ID) // nothing else but a link lets them
	note(chosen && invited, "password", auth.Created, "invitation_accepted")
	note(chosen && !invited, "password", auth.Changed, "password")
	note(before.PasswordHash != "" && after.PasswordHash == "", "password", auth.Revoked, "reset")
	note(after.Invitation != "" && after.Invitation != before.Invitation, "invitation", auth.Created, "invited")
	note(before.Invitation != "" && after.Invitation == "" && !chosen, "invitation", auth.Revoked, "withdrawn")

	note(before.TOTPSealed == "" && after.TOTPSealed != "", "totp", auth.Created, "app_added")
	note(before.TOTPSealed != "" && after.TOTPSealed == "", "totp", auth.Revoked, "app_removed")
	another := before.TOTPSealed != after.TOTPSealed && before.TOTPSealed != "" && after.TOTPSealed != ""
	note(another, "totp", auth.Sealed, "")
	missing := func(of, in []string) bool {
		return slices.ContainsFunc(of, func(one string) bool { return !slices.Contains(in, one) })
	}
	note(missing(after.Recovery, before.Recovery), "recovery_codes", auth.Created, "codes_made")
	had, has := passkeys(before), passkeys(after)
	// With the last second factor the codes go too.
	// Nor does one that other codes took the place of.
	used := missing(before.Recovery, after.Recovery) && !missing(after.Recovery, before.Recovery) &&
		(after.TOTPSealed != "" || len(has) > 0)
	note(used, "recovery_codes", auth.Revoked, "code_used")
	note(missing(has, had), "passkey", auth.Created, "passkey_added")
	note(missing(had, has), "passkey", auth.Revoked, "passkey_removed")

	note(acts == nil && after.EndedAt.After(before.EndedAt.Time), "session", auth.Revoked, "all_ended")
	return acts, nil
}

func passkeys(b *record.User) []string {
	ids := make([]string, len(b.Passkeys))
	for i, key := range b.Passkeys {
		ids[i] = key.ID
	}
	return ids
}

// actsOfClient looks at the secrets of an OAuth client, and at what it may do.
func actsOfClient(w record.Written) (acts []auth.Use, err error) {
	before, after, err := record.Bodies[record.OAuthClient](w)
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return []auth.Use{{Act: auth.Created}}, nil
	case w.Action == record.ActionArchive:
		return []auth.Use{{Act: auth.Revoked, Reason: "removed"}}, nil
	case before.Status != after.Status && after.Status == record.OAuthDisabled:
		return []auth.Use{{Act: auth.Revoked, Reason: "disabled"}}, nil
	case before.Status != after.Status:
		return []auth.Use{{Act: auth.Changed, Reason: "enabled"}}, nil
	}
	had := map[string]bool{}
	for _, s := range before.Secrets {
		had[s.ID] = true
	}
	for _, s := range after.Secrets {
		if !had[s.ID] {
			return []auth.Use{{Act: auth.Rotated}}, nil
		}
	}
	return []auth.Use{{Act: auth.Changed}}, nil
}

// actsOfGrant looks at what a person lets a client do: given, for more or less, and taken away.
func actsOfGrant(w record.Written) ([]auth.Use, error) {
	before, after, err := record.Bodies[record.OAuthGrant](w)
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return []auth.Use{{Act: auth.Created}}, nil
	case w.Action == record.ActionArchive:
		return []auth.Use{{Act: auth.Revoked, Reason: after.Ended}}, nil
	case slices.Equal(before.Scopes, after.Scopes):
		return nil, nil
	}
	return []auth.Use{{Act: auth.Changed}}, nil
}

package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

var here = netip.MustParseAddr("192.0.2.1")

func TestAKeyHasItsWrittenFormAndNoOtherTextIsOne(t *testing.T) {
	form := regexp.MustCompile(`^mp_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 200 {
		k := auth.MakeKey()
		if !form.MatchString(k.Token) || seen[k.TokenID] {
			t.Fatalf("key %q", k.Token)
		}
		seen[k.TokenID] = true
		id, secret, err := auth.ParseKey(k.Token)
		if err != nil || id != k.TokenID || !auth.Matches(secret, k.SecretSHA256) || !strings.HasSuffix(secret, k.LastFour) {
			t.Fatalf("parse %q: %q %v", k.Token, id, err)
		}
		for i := range k.Token {
			b := []byte(k.Token)
			b[i] = "xX"[(i+len(seen))%2]
			if string(b) == k.Token {
				continue
			}
			if _, _, err := auth.ParseKey(string(b)); !errors.Is(err, auth.ErrMalformed) {
				t.Fatalf("a typing error at %d is taken: %s", i, b)
			}
		}
	}
	for _, bad := range []string{"", "mp_live_", "Bearer x", strings.Repeat("a", 70),
		"mp_live_" + strings.Repeat("é", 31)} {
		if _, _, err := auth.ParseKey(bad); !errors.Is(err, auth.ErrMalformed) {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(auth.MakeKey().Token)
	f.Add("mp_live_000000000000_0000000000000000000000000000000000000000000000000")
	f.Fuzz(func(t *testing.T, text string) {
		if id, secret, err := auth.ParseKey(text); err == nil && !strings.HasPrefix(text, "mp_live_"+id+"_"+secret) {
			t.Errorf("%q parses as %q and %q", text, id, secret)
		}
	})
}

// store is one key, as the look-up finds it.
type store struct {
	made    auth.NewKey
	key     auth.Key
	lookups int
	now     time.Time
	err     error
}

func newStore() *store {
	s := &store{made: auth.MakeKey(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.key = auth.Key{ID: 5, Account: 7, SecretSHA256: s.made.SecretSHA256, Scopes: []auth.Scope{auth.VehiclesRead}}
	return s
}

func (s *store) lookup(_ context.Context, tokenID string) (*auth.Key, error) {
	s.lookups++
	if s.err != nil || tokenID != s.made.TokenID {
		return nil, s.err
	}
	k := s.key
	return &k, nil
}

func (s *store) authenticator() *auth.Authenticator {
	return auth.NewAuthenticator(auth.DefaultConfig(), s.lookup, func() time.Time { return s.now })
}

func TestAGoodKeyIsItsAccount(t *testing.T) {
	s := newStore()
	p, err := s.authenticator().Authenticate(t.Context(), s.made.Token, here)
	if err != nil || p.Account != 7 || p.Key != 5 || p.Actor() != "key_5" {
		t.Fatalf("%+v, %v", p, err)
	}
	if !p.Has(auth.VehiclesRead) || p.Has(auth.VehiclesWrite) {
		t.Error("scopes are not what the key holds")
	}
	if admin := (&auth.Principal{Scopes: []auth.Scope{auth.Admin}}); !admin.Has(auth.FinanceWrite) {
		t.Error("admin lacks a scope")
	}
}

func TestABadKeyIsRefused(t *testing.T) {
	past, ahead := time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		change func(*auth.Key)
		want   error
	}{
		"wrong secret":      {func(k *auth.Key) { k.SecretSHA256 = auth.Hash("other") }, auth.ErrUnknownKey},
		"no secret":         {func(k *auth.Key) { k.SecretSHA256 = "" }, auth.ErrUnknownKey},
		"expired":           {func(k *auth.Key) { k.ExpiresAt = past }, auth.ErrExpired},
		"expires later":     {func(k *auth.Key) { k.ExpiresAt = ahead }, nil},
		"revoked":           {func(k *auth.Key) { k.RevokedAt = past }, auth.ErrRevoked},
		"revoked from then": {func(k *auth.Key) { k.RevokedAt = ahead }, nil},
		"elsewhere": {func(k *auth.Key) {
			k.Allowed = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		}, auth.ErrAddress},
		"allowed here": {func(k *auth.Key) { k.Allowed = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }, nil},
	}
	for name, test := range tests {
		s := newStore()
		test.change(&s.key)
		if _, err := s.authenticator().Authenticate(t.Context(), s.made.Token, here); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	s := newStore()
	if _, err := s.authenticator().Authenticate(t.Context(), auth.MakeKey().Token, here); !errors.Is(err,
		auth.ErrUnknownKey) {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := s.authenticator().Authenticate(t.Context(), "nonsense", here); !errors.Is(err, auth.ErrMalformed) ||
		s.lookups != 1 {
		t.Errorf("malformed key: %v after %d look-ups", err, s.lookups)
	}
}

func TestARevocationIsFeltWithinFiveSeconds(t *testing.T) {
	s := newStore()
	a := s.authenticator()
	for range 100 {
		if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
			t.Fatal(err)
		}
	}
	if s.lookups != 1 {
		t.Errorf("%d look-ups for 100 requests at once", s.lookups)
	}
	s.key.RevokedAt = s.now
	s.now = s.now.Add(5 * time.Second)
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); !errors.Is(err, auth.ErrRevoked) {
		t.Errorf("5 s after the revocation: %v", err)
	}
	s.key.RevokedAt = time.Time{}
	a.Forget(s.made.TokenID)
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Errorf("after Forget: %v", err)
	}
}

func TestALostStoreIsNotARefusal(t *testing.T) {
	s := newStore()
	a := s.authenticator()
	s.err = errors.New("connection refused")
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); !errors.Is(err, s.err) {
		t.Errorf("%v", err)
	}
	s.err = nil
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Errorf("a failure was remembered: %v", err)
	}
}

func TestAnAddressThatGuessesIsThrottledAndItsNeighboursAreNot(t *testing.T) {
	s := newStore()
	a := s.authenticator()
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Fatal(err)
	}
	var err error
	tries := 0
	for ; !errors.Is(err, auth.ErrThrottled) && tries < 100; tries++ {
		_, err = a.Authenticate(t.Context(), auth.MakeKey().Token, here)
	}
	if tries != auth.DefaultConfig().Failures+1 {
		t.Errorf("throttled at attempt %d", tries)
	}
	before := s.lookups
	for range 10 {
		a.Authenticate(t.Context(), auth.MakeKey().Token, here)
	}
	if s.lookups != before {
		t.Errorf("%d look-ups while throttled", s.lookups-before)
	}
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Errorf("a key in use is locked out: %v", err)
	}
	if _, err := a.Authenticate(t.Context(), auth.MakeKey().Token, netip.MustParseAddr("192.0.2.2")); !errors.Is(err,
		auth.ErrUnknownKey) {
		t.Errorf("another address: %v", err)
	}
	s.now = s.now.Add(time.Minute)
	if _, err := a.Authenticate(t.Context(), auth.MakeKey().Token, here); !errors.Is(err, auth.ErrUnknownKey) {
		t.Errorf("a minute later: %v", err)
	}
}

func TestAKeyThatWasGoodIsLookedUpHoweverManyBadOnesComeBesideIt(t *testing.T) {
	s := newStore()
	cfg := auth.DefaultConfig()
	cfg.CacheSize = 50
	a := auth.NewAuthenticator(cfg, s.lookup, func() time.Time { return s.now })
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		// More than are remembered, from everywhere, and with a wrong secret for the key itself.
		for i := range 2 * cfg.CacheSize {
			a.Authenticate(t.Context(), auth.MakeKey().Token, here)
			a.Authenticate(t.Context(), auth.MakeKey().Token, netip.AddrFrom4([4]byte{198, 51, byte(i), 1}))
		}
		if _, err := a.Authenticate(t.Context(), auth.MakeKey().Token, here); !errors.Is(err, auth.ErrThrottled) {
			t.Fatalf("round %d: the one that guesses: %v", round, err)
		}
		if round == 5 {
			a.Forget(s.made.TokenID)
		}
		if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
			t.Fatalf("round %d: a key in use is locked out: %v", round, err)
		}
		s.now = s.now.Add(5 * time.Second)
	}
	s.key.RevokedAt = s.now
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err == nil {
		t.Error("a revoked key is let in, because it was good")
	}
}

func TestWhatIsNoKeyLocksNobodyOut(t *testing.T) {
	s := newStore()
	a := s.authenticator()
	for range 1000 {
		if _, err := a.Authenticate(t.Context(), "nonsense", here); !errors.Is(err, auth.ErrMalformed) {
			t.Fatal(err)
		}
	}
	if _, err := a.Authenticate(t.Context(), s.made.Token, here); err != nil {
		t.Errorf("a key that comes first now: %v", err)
	}
}

func TestFailuresAreCountedByNetwork(t *testing.T) {
	s := newStore()
	a := s.authenticator()
	for i := range auth.DefaultConfig().Failures {
		a.Authenticate(t.Context(), auth.MakeKey().Token, netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1)))
	}
	for addr, want := range map[string]error{"2001:db8::ffff": auth.ErrThrottled, "2001:db8:0:1::1": nil,
		"192.0.2.1": nil} {
		other := newStore()
		s.made, s.key = other.made, other.key // one that was never seen
		if _, err := a.Authenticate(t.Context(), s.made.Token, netip.MustParseAddr(addr)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", addr, err, want)
		}
	}
}

func TestLimitsFollowFromANumberOfRequests(t *testing.T) {
	limits := auth.LimitsOf(1_000)
	for class, want := range map[auth.Class]auth.Limit{
		auth.Read:   {PerKey: 1_000, PerAccount: 5_000, Window: time.Minute},
		auth.Ingest: {PerKey: 1_000, PerAccount: 5_000, Window: time.Minute},
		auth.Write:  {PerKey: 200, PerAccount: 1_000, Window: time.Minute},
	} {
		if limits[class] != want {
			t.Errorf("%s: %+v, want %+v", class, limits[class], want)
		}
	}
	for _, n := range []int{0, 1, 4, auth.MaxRate} {
		cfg := auth.DefaultConfig()
		cfg.Limits = auth.LimitsOf(n)
		if err := cfg.Validate(); err != nil {
			t.Errorf("%d requests: %v", n, err)
		}
		l := auth.NewLimiter(cfg, time.Now)
		for class := range cfg.Limits {
			if d := l.Take(&auth.Principal{Account: 1, Key: 1}, class); !d.OK || (d.Quota == 0) != (n == 0) {
				t.Errorf("%d requests, the first %s: %+v", n, class, d)
			}
		}
	}
}

// TestWhoSharesABucketOfRequests: neither another sign-in nor another account's limit brings more.
func TestWhoSharesABucketOfRequests(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg := auth.DefaultConfig()
	cfg.Limits = auth.LimitsOf(4)
	l := auth.NewLimiter(cfg, func() time.Time { return now })
	take := func(p auth.Principal) bool { return l.Take(&p, auth.Read).OK }
	for i := range 5 {
		if got := take(auth.Principal{Account: 1, User: 7, Session: fleet.SessionID(10 + i)}); got != (i < 4) {
			t.Errorf("session %d of a person: let in %v", i, got)
		}
	}
	if !take(auth.Principal{Account: 1, User: 8, Session: 30}) {
		t.Error("one person's requests keep another out")
	}
	for i, grant := range []fleet.GrantID{1, 1, 1, 1, 2} {
		if !take(auth.Principal{Account: 1, User: 7, Client: 3, Grant: grant}) {
			t.Errorf("request %d of grants is refused", i)
		}
	}
	if take(auth.Principal{Account: 1, User: 7, Client: 3, Grant: 1}) {
		t.Error("tokens of a grant have a fifth request")
	}
	// What the operator gave an account holds in the place of that, more or less or without end.
	for given, want := range map[int]int{2: 2, 9: 9, 0: 500} {
		n := 0
		own := auth.Principal{Account: fleet.AccountID(100 + given), Key: fleet.KeyID(100 + given), Rate: &given}
		for n < 500 && take(own) {
			n++
		}
		if n != want {
			t.Errorf("an account that was given %d makes %d requests", given, n)
		}
	}
}

func TestLimitsOfKeyAndAccount(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg := auth.DefaultConfig()
	cfg.Limits = map[auth.Class]auth.Limit{auth.Read: {PerKey: 10, PerAccount: 15, Window: time.Minute},
		auth.Write: {PerKey: 1, PerAccount: 1, Window: time.Minute}}
	l := auth.NewLimiter(cfg, func() time.Time { return now })
	count := func(key fleet.KeyID, account fleet.AccountID) (n int, last auth.Decision) {
		for ; n < 100; n++ {
			if last = l.Take(&auth.Principal{Account: account, Key: key}, auth.Read); !last.OK {
				break
			}
		}
		return n, last
	}
	n, d := count(1, 1)
	if n != 10 || d.Quota != 10 || d.Remaining != 0 || d.Retry != 6*time.Second || d.Reset != time.Minute {
		t.Errorf("one key: %d operations, then %+v", n, d)
	}
	if n, d = count(2, 1); n != 5 || d.Quota != 15 {
		t.Errorf("its neighbour in the account: %d operations, then %+v", n, d)
	}
	if n, _ = count(3, 2); n != 10 {
		t.Errorf("another account: %d operations", n)
	}
	if d := l.Take(&auth.Principal{Account: 1, Key: 1}, auth.Write); !d.OK {
		t.Errorf("another class: %+v", d)
	}
	now = now.Add(6 * time.Second)
	if n, _ = count(1, 1); n != 1 {
		t.Errorf("after the time of one operation: %d", n)
	}
	now = now.Add(time.Hour)
	if d := l.Take(&auth.Principal{Account: 1, Key: 1}, auth.Read); !d.OK || d.Remaining != 9 || d.Reset != 6*time.Second {
		t.Errorf("after an hour: %+v", d)
	}
}

func TestScopesAreAClosedList(t *testing.T) {
	got, bad := auth.ParseScopes("vehicles:read, telematics:write vehicles:read")
	if bad != "" || fmt.Sprint(got) != "[vehicles:read telematics:write]" {
		t.Errorf("%v, %q", got, bad)
	}
	if _, bad = auth.ParseScopes("vehicles:read,everything"); bad != "everything" {
		t.Errorf("unknown scope %q", bad)
	}
}

func TestAThrottleOpensAgainByItself(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	throttle := auth.NewThrottle(10, 10*time.Minute, func() time.Time { return now })
	for i := range 10 {
		if !throttle.Open("a") {
			t.Fatalf("closed after %d failures", i)
		}
		throttle.Fail("a")
	}
	if throttle.Open("a") || !throttle.Open("b") {
		t.Error("the wrong name is kept waiting")
	}
	throttle.Fail("a") // which costs nothing more
	if now = now.Add(time.Minute); !throttle.Open("a") {
		t.Error("closed a minute later")
	}
}

func TestNobodyGivesARoleAboveTheirOwn(t *testing.T) {
	for i, r := range auth.Roles {
		if !r.Known() || len(r.Scopes()) == 0 || !auth.Owner.Covers(r) || !r.Covers(r) {
			t.Errorf("role %s", r)
		}
		for _, above := range auth.Roles[:i] {
			if r.Covers(above) {
				t.Errorf("%s covers %s", r, above)
			}
		}
	}
	if auth.Role("king").Known() || auth.Role("king").Scopes() != nil || !auth.Manager.Covers(auth.Clerk) {
		t.Error("what is no role has rights, or a manager may not do what a clerk may")
	}
}

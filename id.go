package fleet

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Identities. Each is a time-ordered 64-bit number that is written as a prefix and decimal digits ("veh_1234"), so
// that two kinds cannot be mistaken for each other in a URL or in code. Zero is no identity.
type (
	// AccountID names a tenant.
	AccountID uint64
	// VehicleID names a vehicle of the fleet.
	VehicleID uint64
	// DeviceID names a tracker, which is assigned to vehicles over time.
	DeviceID uint64
	// KeyID names an API key.
	KeyID uint64
	// FenceID names a geofence.
	FenceID uint64
	// RuleID names an alert rule.
	RuleID uint64
	// JobID names a long piece of work that somebody asked for.
	JobID uint64
	// ClientID names a program that reaches the interface by OAuth.
	ClientID uint64
	// GrantID names what a person gave to such a program.
	GrantID uint64
	// UserID names a person who signs in to an account.
	UserID uint64
	// SessionID names the time for which a person is signed in at one browser.
	SessionID uint64
)

// Prefixes of the written form of an identity.
const (
	AccountPrefix = "acc_"
	VehiclePrefix = "veh_"
	DevicePrefix  = "dev_"
	KeyPrefix     = "key_"
	FencePrefix   = "geo_"
	RulePrefix    = "rul_"
	JobPrefix     = "job_"
	EventPrefix   = "evt_"

	BookingPrefix      = "bkg_"
	CustomerPrefix     = "cus_"
	ClassPrefix        = "vcl_"
	LocationPrefix     = "loc_"
	RatePlanPrefix     = "rat_"
	QuotePrefix        = "quo_"
	ChargePrefix       = "chg_"
	PaymentPrefix      = "pay_"
	RefundPrefix       = "rfd_"
	TransactionPrefix  = "ltx_"
	EntryPrefix        = "len_"
	ExpensePrefix      = "exp_"
	TollPrefix         = "tol_"
	DamagePrefix       = "dmg_"
	InspectionPrefix   = "ins_"
	MeterReadingPrefix = "mrd_"
	TaskPrefix         = "tsk_"
	SchedulePrefix     = "sch_"
	ReminderPrefix     = "rem_"
	WorkOrderPrefix    = "wo_"
	IssuePrefix        = "iss_"
	DocumentPrefix     = "doc_"
	NotePrefix         = "not_"
	BlockPrefix        = "blk_"
	DriverTagPrefix    = "dtg_"
	SavedReportPrefix  = "srp_"
	ShareLinkPrefix    = "shl_"

	WebhookEndpointPrefix = "whe_"
	WebhookSecretPrefix   = "whs_"
	WebhookDeliveryPrefix = "whd_"

	InvoicePrefix       = "inv_"
	CreditNotePrefix    = "crn_"
	ReceiptPrefix       = "rcp_"
	DepositPaperPrefix  = "dst_"
	AgreementPrefix     = "agr_"
	OwnerPaperPrefix    = "ost_"
	RecurringCostPrefix = "rcc_"
	JournalEntryPrefix  = "jnl_"

	CommandPrefix = "cmd_"

	UserPrefix    = "usr_"
	SessionPrefix = "ses_"
	PasskeyPrefix = "pky_"

	ClientPrefix       = "ocl_"
	ClientSecretPrefix = "ocs_"
	GrantPrefix        = "ogr_"
)

func (id AccountID) String() string { return FormatID(AccountPrefix, uint64(id)) }
func (id VehicleID) String() string { return FormatID(VehiclePrefix, uint64(id)) }
func (id DeviceID) String() string  { return FormatID(DevicePrefix, uint64(id)) }
func (id KeyID) String() string     { return FormatID(KeyPrefix, uint64(id)) }
func (id FenceID) String() string   { return FormatID(FencePrefix, uint64(id)) }
func (id RuleID) String() string    { return FormatID(RulePrefix, uint64(id)) }
func (id JobID) String() string     { return FormatID(JobPrefix, uint64(id)) }
func (id UserID) String() string    { return FormatID(UserPrefix, uint64(id)) }
func (id SessionID) String() string { return FormatID(SessionPrefix, uint64(id)) }
func (id ClientID) String() string  { return FormatID(ClientPrefix, uint64(id)) }
func (id GrantID) String() string   { return FormatID(GrantPrefix, uint64(id)) }

// VehicleKey names a vehicle of an account: whatever is derived is derived for one.
type VehicleKey struct {
	Account AccountID
	Vehicle VehicleID
}

// FormatID writes an identity as prefix and digits.
func FormatID(prefix string, id uint64) string { return prefix + strconv.FormatUint(id, 10) }

// ParseID reads what FormatID wrote. Leading zeros, signs and zero itself are refused, so that every identity has
// exactly one written form.
func ParseID(prefix, text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, prefix)
	if !ok || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, fmt.Errorf("%q is not an id of the form %s<digits>", text, prefix)
	}
	id, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an id of the form %s<digits>", text, prefix)
	}
	return id, nil
}

// IDEpoch is the instant from which the time part of an identity counts, in Unix milliseconds.
const IDEpoch = 1577836800000 // 2020-01-01T00:00:00Z

// IDOf is the first identity of an instant, by its time part.
func IDOf(t time.Time) uint64 { return uint64(max(t.UnixMilli()-IDEpoch, 1)) << 22 }

// IDTime is the instant of an identity, to the millisecond.
func IDTime(id uint64) time.Time { return time.UnixMilli(int64(id>>22) + IDEpoch) }

// Node numbers. Those below LeasedNodes belong to one process at a time; the others are shared by processes without a
// lease, which draw one.
const (
	Nodes       = 1 << 10
	LeasedNodes = 3 * Nodes / 4
)

// IDSource makes time-ordered identities: 41 bits of milliseconds since 2020, 10 bits of node, 12 bits of sequence.
// Two sources with different nodes never make the same identity; one source never makes one twice, also when the
// clock steps back. It is safe for concurrent use.
type IDSource struct {
	node uint64 // without a lease
	now  func() time.Time

	mu     sync.Mutex
	last   uint64 // the last (milliseconds, sequence) pair handed out
	leased uint64
	until  time.Time // when the lease is no longer used; zero without one
}

// NamedID names something by what it is of, as fmt.Sprintf puts that, so that whoever makes it gives it the same name.
func NamedID(format string, of ...any) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, format, of...)
	return max(hash.Sum64()>>1, 1) // as DerivedID
}

// NewIDSource makes a source for a node number, of which the low ten bits count.
func NewIDSource(node uint64, now func() time.Time) *IDSource {
	return &IDSource{node: node % Nodes, now: now}
}

// Now returns the time by the source's clock.
func (s *IDSource) Now() time.Time { return s.now() }

// Lease has the source use a leased node number until an instant of its clock. From then on, as after a time in which
// the process was suspended, it uses the one that it was made for again.
func (s *IDSource) Lease(node uint64, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leased, s.until = node%Nodes, until
}

// Next returns an identity greater than every one this source returned before.
func (s *IDSource) Next() uint64 { return s.next(0) }

// NextOfMany is Next for what is made together with others. No source returns the same from Next: what is made by
// itself is settled by its token, which nothing has that is made with others.
func (s *IDSource) NextOfMany() uint64 { return s.next(1) }

// IDOfMany says whether NextOfMany may have returned an identity, and Next cannot have.
func IDOfMany(id uint64) bool { return id&1 == 1 }

// next returns the next identity of which the sequence ends in that bit.
func (s *IDSource) next(bit uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	pair := max(IDOf(now)>>22<<12, s.last+1)
	if pair&1 != bit {
		pair++
	}
	s.last = pair
	node := s.node
	// By both clocks: the monotonic one stands still while the machine sleeps, and the other one may be set.
	if now.Before(s.until) && now.Round(0).Before(s.until.Round(0)) {
		node = s.leased
	}
	return pair>>12<<22 | node<<12 | pair&0xfff
}

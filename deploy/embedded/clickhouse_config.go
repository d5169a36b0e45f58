package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// User is an account of the embedded ClickHouse. SQL cannot create users
// there: the list given at start is the whole list until the next start.
type User struct {
	Name     string // letters, digits and underscores; not "default"
	Password string // never empty; stored only as its SHA-256
	// ReadOnly refuses every statement that changes data or schema. The user
	// may still change settings of a query, within Limits.
	ReadOnly bool
	// Locked refuses that too, and every change of a setting but those of
	// Limits, downwards, and of Choices.
	Locked  bool
	Choices []string
	// Grants are GRANT statements without their TO clause:
	// "GRANT SELECT ON motorpool.trips".
	Grants []string
	// Settings are the user's defaults. A read-only user cannot change them.
	Settings map[string]string
	// Limits are upper bounds of numeric settings, which they also set. The
	// user may go below but not above, and not to 0, which means unlimited.
	Limits map[string]uint64
	// Filters are row policies: what the user sees of a table.
	Filters []RowFilter
}

// RowFilter shows a user only those rows of a table for which the SQL
// condition Where holds, also when a view with SQL SECURITY INVOKER reads it.
type RowFilter struct {
	Database, Table, Where string
}

// AppUser is the account the application uses: every right on every database,
// synchronous inserts by default.
func AppUser(name, password string) User {
	return User{
		Name: name, Password: password,
		Grants:   []string{"GRANT ALL ON *.*"},
		Settings: map[string]string{"async_insert": "0"},
	}
}

// BIUser is an account for analysts and BI tools: it reads what grants allow,
// always the final rows, within a minute, one thread and queryMemory bytes a
// query. See the package comment for what its password gives away on this
// engine.
func BIUser(name, password string, queryMemory uint64, grants ...string) User {
	return User{
		Name: name, Password: password, ReadOnly: true, Grants: grants,
		Settings: map[string]string{"final": "1", "allow_introspection_functions": "0"},
		Limits: map[string]uint64{
			"max_execution_time":              60,
			"max_memory_usage":                queryMemory,
			"max_threads":                     1,
			"max_concurrent_queries_for_user": 8,
		},
	}
}

// name is what ClickHouse takes as an element name in its configuration.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (u User) validate() error {
	if !name.MatchString(u.Name) || u.Name == "default" {
		return fmt.Errorf("user name %q is reserved or not plain letters, digits and underscores", u.Name)
	}
	if u.Password == "" {
		return fmt.Errorf("user %s has no password", u.Name)
	}
	for setting := range u.Settings {
		if !name.MatchString(setting) {
			return fmt.Errorf("user %s: setting %q is not a name", u.Name, setting)
		}
	}
	for _, setting := range u.Choices {
		if !name.MatchString(setting) {
			return fmt.Errorf("user %s: setting %q is not a name", u.Name, setting)
		}
	}
	for setting, bound := range u.Limits {
		if !name.MatchString(setting) || bound == 0 {
			return fmt.Errorf("user %s: limit %q is not a name with a positive bound", u.Name, setting)
		}
		if _, ok := u.Settings[setting]; ok {
			return fmt.Errorf("user %s: %s is both a setting and a limit", u.Name, setting)
		}
	}
	seen := map[[2]string]bool{}
	for _, f := range u.Filters {
		if seen[[2]string{f.Database, f.Table}] {
			return fmt.Errorf("user %s: two row filters on %s.%s", u.Name, f.Database, f.Table)
		}
		seen[[2]string{f.Database, f.Table}] = true
		if !name.MatchString(f.Database) || !name.MatchString(f.Table) || f.Where == "" {
			return fmt.Errorf("user %s: row filter on %q.%q needs plain names and a condition", u.Name, f.Database, f.Table)
		}
	}
	return nil
}

// element is one XML element: text, or children.
type element struct {
	name string
	text string
	kids []element
}

func el(name string, kids ...element) element { return element{name: name, kids: kids} }

func leaf(name, text string) element { return element{name: name, text: text} }

func number[T int | int64 | uint64](name string, n T) element {
	return leaf(name, fmt.Sprint(n))
}

// MarshalXML writes the element; names come from code or were validated.
func (e element) MarshalXML(enc *xml.Encoder, _ xml.StartElement) error {
	start := xml.StartElement{Name: xml.Name{Local: e.name}}
	if err := enc.EncodeToken(start); err != nil {
		return err
	}
	if e.text != "" {
		if err := enc.EncodeToken(xml.CharData(e.text)); err != nil {
			return err
		}
	}
	for _, kid := range e.kids {
		if err := enc.Encode(kid); err != nil {
			return err
		}
	}
	return enc.EncodeToken(start.End())
}

// write replaces the file whole, readable by its owner only.
func (e element) write(path string) error {
	var out bytes.Buffer
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(e); err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// serverXML is config.xml: everything that decides what a small machine
// spends on the engine. No system log table is configured, so none grows.
func (c *ClickHouseConfig) serverXML(dir, host string, tcp, http int) element {
	memory := leaf("max_server_memory_usage_to_ram_ratio", strconv.FormatFloat(c.MemoryRatio, 'f', -1, 64))
	if c.MemoryBytes > 0 {
		memory = number("max_server_memory_usage", c.MemoryBytes)
	}
	return el("clickhouse",
		el("logger",
			leaf("level", c.LogLevel),
			leaf("log", c.LogFile),
			leaf("size", "10M"),
			number("count", 3),
		),
		leaf("path", filepath.Join(dir, "store")+"/"),
		leaf("users_config", filepath.Join(dir, "users.xml")),
		backupsXML(),
		leaf("listen_host", host),
		number("tcp_port", tcp),
		number("http_port", http),
		memory,
		number("mark_cache_size", 64<<20),
		number("uncompressed_cache_size", 0),
		number("max_concurrent_queries", 200),
		number("background_pool_size", 4),
		// Merges get a tenth of what those get who wait for an answer, and all that nobody wants. Without CAP_SYS_NICE
		// the engine does not do that.
		number("os_threads_nice_value_merge_mutate", 10),
		number("background_schedule_pool_size", 16),
		number("background_common_pool_size", 2),
		number("background_move_pool_size", 1),
		number("background_fetches_pool_size", 1),
		el("merge_tree", c.mergeTree()...),
	)
}

// mergeTree is what holds for all tables that do not say otherwise.
func (c *ClickHouseConfig) mergeTree() []element {
	settings := []element{
		// These have to fit the smaller pool, or the engine refuses to merge.
		number("number_of_free_entries_in_pool_to_lower_max_size_of_merge", 3),
		number("number_of_free_entries_in_pool_to_execute_mutation", 4),
		number("number_of_free_entries_in_pool_to_execute_optimize_entire_partition", 5),
		// No merge works out what the values of its columns are like: no read of ours asks for that, as it costs more
		// than it saves.
		leaf("auto_statistics_types", ""),
	}
	if c.Sync {
		settings = append(settings,
			number("fsync_after_insert", 1),
			number("fsync_part_directory", 1),
			number("min_rows_to_fsync_after_merge", 1),
		)
	}
	if c.KeepFree > 0 {
		settings = append(settings, number("min_free_disk_bytes_to_perform_insert", c.KeepFree))
	}
	return settings
}

// BackupDisks are the names of disks that a backup may be written to. This engine cannot write to S3 in any other way;
// it knows a disk by its first definition until it is started again, so there are several.
var BackupDisks = []string{
	"motorpool_backup_0", "motorpool_backup_1", "motorpool_backup_2", "motorpool_backup_3",
	"motorpool_backup_4", "motorpool_backup_5", "motorpool_backup_6", "motorpool_backup_7",
}

// backupsXML lets a backup go where the operator says. Only a user with the right to make one can use that, and that is
// the one that has every right.
func backupsXML() element {
	backups := el("backups", leaf("allowed_path", "/"))
	for _, disk := range BackupDisks {
		backups.kids = append(backups.kids, leaf("allowed_disk", disk))
	}
	return backups
}

// usersXML is users.xml: the caller's users, each with a profile of its own
// name, and the one the listening session runs as.
func (c *ClickHouseConfig) usersXML() element {
	profiles := []element{
		el("default"),
		// The listening session takes this one place before a port is open,
		// so nobody else can ever log in as default.
		el("listen", number("max_sessions_for_user", 1)),
	}
	users := []element{el("default",
		el("no_password"),
		el("networks", leaf("ip", "127.0.0.1")),
		leaf("profile", "listen"),
		leaf("quota", "default"),
		el("grants",
			leaf("query", "GRANT SYSTEM LISTEN ON *.*"),
			leaf("query", "GRANT SELECT ON system.numbers"),
		),
	)}
	for _, u := range c.Users {
		profiles = append(profiles, u.profile())
		users = append(users, u.account())
	}
	return el("clickhouse",
		el("profiles", profiles...),
		el("quotas", el("default")),
		el("users", users...),
	)
}

func (u User) profile() element {
	var settings, constraints []element
	var free []element
	switch {
	case u.Locked:
		settings = append(settings, number("readonly", 1))
		free = []element{el("changeable_in_readonly")}
		for _, setting := range u.Choices {
			constraints = append(constraints, el(setting, free...))
		}
	case u.ReadOnly:
		settings = append(settings, number("readonly", 2))
	}
	for _, setting := range slices.Sorted(maps.Keys(u.Settings)) {
		settings = append(settings, leaf(setting, u.Settings[setting]))
		if u.ReadOnly || u.Locked {
			constraints = append(constraints, el(setting, el("readonly")))
		}
	}
	for _, setting := range slices.Sorted(maps.Keys(u.Limits)) {
		bound := u.Limits[setting]
		settings = append(settings, number(setting, bound))
		constraints = append(constraints, el(setting, append([]element{number("min", 1), number("max", bound)}, free...)...))
	}
	return el(u.profileName(), append(settings, el("constraints", constraints...))...)
}

// profileName keeps a user called "listen" from sharing the listener's profile.
func (u User) profileName() string { return "user_" + u.Name }

func (u User) account() element {
	sum := sha256.Sum256([]byte(u.Password))
	var grants []element
	for _, grant := range u.Grants {
		grants = append(grants, leaf("query", grant))
	}
	if len(grants) == 0 { // an empty list would mean every right
		grants = append(grants, leaf("query", "GRANT SELECT ON system.one"))
	}
	tables := map[string][]element{}
	for _, f := range u.Filters {
		tables[f.Database] = append(tables[f.Database], el(f.Table, leaf("filter", f.Where)))
	}
	var databases []element
	for _, database := range slices.Sorted(maps.Keys(tables)) {
		databases = append(databases, el(database, tables[database]...))
	}
	return el(u.Name,
		leaf("password_sha256_hex", hex.EncodeToString(sum[:])),
		el("networks", leaf("ip", "::/0")),
		leaf("profile", u.profileName()),
		leaf("quota", "default"),
		el("grants", grants...),
		el("databases", databases...),
	)
}

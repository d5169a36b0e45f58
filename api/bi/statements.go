package bi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
)

// UserPrefix is how the names of users begin who read the views over the tables of a database.
func UserPrefix(tables string) string { return Database(tables) + "_" }

// UserName is the name of a user: what somebody gave, after the prefix, in small letters, digits and underscores.
func UserName(tables, given string) (string, error) {
	var name strings.Builder
	for _, r := range strings.ToLower(given) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "_"):
			name.WriteByte('_')
		}
	}
	word := strings.Trim(name.String(), "_")
	if word == "" || len(word) > 48 {
		return "", fmt.Errorf("of %q no name of a user can be made: give one of up to 48 letters and digits with --name", given)
	}
	return UserPrefix(tables) + word, nil
}

// Statements make a user of an account on a server, who knows the password of which the SHA-256 is given, in hex. The
// user may come in only with the last statement, when every policy stands; a statement may be repeated. None depends on
// what other users there are, so that users can be made and removed at the same time.
//
// A user's policies are restrictive: a row is seen if they all hold, and a permissive one. The permissive one is that
// of everybody.
func Statements(tables, user, sha256 string, account fleet.AccountID) []string {
	profile := Database(tables) + "_profile"
	all := []string{
		"CREATE SETTINGS PROFILE OR REPLACE " + profile + " SETTINGS " + profileSettings(),
		"CREATE USER " + user + " IDENTIFIED WITH sha256_hash BY " + quote(sha256) + " HOST NONE SETTINGS PROFILE '" +
			profile + "'",
	}
	policies := Policies(tables, account)
	for _, p := range policies {
		all = append(all, fmt.Sprintf("CREATE ROW POLICY OR REPLACE %s ON %s.%s FOR SELECT USING %s AS RESTRICTIVE TO %s",
			user, p.Database, p.Table, p.Where, user))
	}
	// A server may be set up such that nobody sees a row of a table that has a policy for somebody else.
	for _, p := range policies {
		all = append(all, fmt.Sprintf("CREATE ROW POLICY OR REPLACE %s ON %s.%s FOR SELECT USING 1 AS PERMISSIVE TO ALL",
			Database(tables)+"_others", p.Database, p.Table))
	}
	all = append(all, quota(user))
	for _, r := range Rights(tables) {
		all = append(all, r.Grant()+" TO "+user)
	}
	return append(all, "ALTER USER "+user+" HOST ANY")
}

// Rotation gives a user another password.
func Rotation(user, sha256 string) []string {
	return []string{"ALTER USER " + user + " IDENTIFIED WITH sha256_hash BY " + quote(sha256)}
}

// Removal undoes Statements, but for what all users share, the profile and the policies of everybody: somebody may be
// making another user.
func Removal(tables, user string) []string {
	all := []string{"DROP USER IF EXISTS " + user, "DROP QUOTA IF EXISTS " + user}
	for _, p := range Policies(tables, 0) {
		all = append(all, fmt.Sprintf("DROP ROW POLICY IF EXISTS %s ON %s.%s", user, p.Database, p.Table))
	}
	return all
}

// quota is that of a user, by whose name it goes.
func quota(user string) string {
	text := "CREATE QUOTA OR REPLACE " + user + " KEYED BY user_name"
	for _, q := range Quotas {
		text += fmt.Sprintf(" FOR INTERVAL %d second MAX queries = %d, read_rows = %d,", q.Seconds, q.Queries, q.ReadRows)
	}
	return strings.TrimSuffix(text, ",") + " TO " + user
}

func profileSettings() string {
	all := []string{"readonly = 1 CONST"}
	for _, name := range slices.Sorted(maps.Keys(Settings)) {
		all = append(all, name+" = "+quote(Settings[name])+" CONST")
	}
	for _, name := range slices.Sorted(maps.Keys(Limits)) {
		all = append(all, fmt.Sprintf("%s = %d MIN 1 MAX %d CHANGEABLE_IN_READONLY", name, Limits[name], Limits[name]))
	}
	for _, name := range Choices {
		all = append(all, name+" CHANGEABLE_IN_READONLY")
	}
	return strings.Join(all, ", ")
}

// Must is what a server has to refuse a user, whatever its version is and however it is set up.
type Must struct {
	SQL    string
	Advice string // to who runs a server that does not
}

// Musts are tried by a new user on a server. Each of them reads past the policies where nothing refuses it.
func Musts(tables string) []Must {
	return []Must{
		{"SELECT * FROM mergeTreeIndex('" + tables + "', 'payments') LIMIT 1",
			"take a version in which mergeTreeIndex heeds row policies: 26.3.22, 26.5.8, 26.6.4, 26.7.6 or later"},
		{"SELECT * FROM mergeTreeProjection('" + tables + "', 'payments', 'none') LIMIT 1", "take a newer version"},
		{"SELECT file('/etc/passwd')", "take a version in which the function file wants the right READ ON FILE"},
		{"SELECT * FROM file('x', LineAsString) LIMIT 1", "do not give every user the right READ ON FILE"},
		{"SELECT * FROM url('http://127.0.0.1:1', LineAsString) LIMIT 1", "do not give every user the right READ ON URL"},
		{"SELECT * FROM system.query_log LIMIT 1", selectFromSystem},
		{"SELECT * FROM system.parts LIMIT 1", selectFromSystem},
		{"SELECT body FROM " + tables + ".bookings LIMIT 1", "do not give every user the right to read tables"},
		{"SELECT name FROM " + tables + ".accounts LIMIT 1", "do not give every user the right to read tables"},
		{"SET readonly = 0", "do not let settings of a profile be changed that are CONST"},
		{"SET max_execution_time = 100000", "set settings_constraints_replace_previous in <access_control_improvements>"},
	}
}

const selectFromSystem = "set select_from_system_db_requires_grant in <access_control_improvements>"

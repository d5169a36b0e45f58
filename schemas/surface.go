package schemas

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// SurfaceView is a view for analysts and BI tools, in a database of its own beside that of the tables. Its file in bi/
// opens with a comment that says what it is about and which columns of its table it reads; each of its columns has a
// comment. Package api/bi makes these views whenever the schema is brought up to date, so they are no migrations.
type SurfaceView struct {
	Name  string
	About string   // whole sentences for people
	Table string   // that it reads
	Reads []string // columns of Table that a reader needs the right to
	// SQL has marks: /*bi*/ before the view's name, /*units*/ for the minor units in a unit of the column currency, and
	// /*chart*/, /*codes*/, /*types*/ and /*measures*/ for the chart of accounts.
	SQL string
}

var surfaceText = regexp.MustCompile(`(?s)^((?:-- [^\n]*\n)+)-- Reads (\w+): ([^\n]*\n(?:--     [^\n]*\n)*)(CREATE .*)$`)

// Surface returns the views of bi/, by name. A file that is not formed as they are is a fault of the program and
// panics.
func Surface() []SurfaceView {
	var all []SurfaceView
	for name, file := range paths("bi/*.sql") {
		part := surfaceText.FindStringSubmatch(read(file))
		if part == nil {
			panic("no view for analysts: " + path.Base(file))
		}
		about := strings.Join(strings.Fields(strings.ReplaceAll(part[1], "-- ", " ")), " ")
		reads := word.FindAllString(strings.ReplaceAll(part[3], "--", ""), -1)
		all = append(all, SurfaceView{Name: name, About: about, Table: part[2], Reads: reads, SQL: part[4]})
	}
	slices.SortFunc(all, func(a, b SurfaceView) int { return strings.Compare(a.Name, b.Name) })
	return all
}

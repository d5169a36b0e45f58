package query

// JournalEntries is how entries by hand in the books are listed.
var JournalEntries = Listing{Table: "journal_entries", Fields: []ListField{
	{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
	{Name: "status", Type: TextField},
	{Name: "on", Column: "entry_on", Type: TextField, Range: true, Sort: true},
	{Name: "reversed_on", Type: TextField, Range: true},
	{Name: "opening", Column: "if(opening, 'true', 'false')", Type: TextField},
	{Name: "ledger_account", Type: TagsField},
	{Name: "vehicle_id", Type: TagsField},
	{Name: "customer_id", Type: TagsField},
	{Name: "location_id", Type: TagsField},
	{Name: "currency", Type: WordsField},
	{Name: "total", Column: "total_minor", Type: NumberField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number", "memo"}}

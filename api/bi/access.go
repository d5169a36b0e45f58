package bi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Right is what a user may read of a table or view: all of its columns if none is named.
type Right struct {
	Database, Table string
	Columns         []string
}

// Grant is the statement that gives the right, without its TO clause.
func (r Right) Grant() string {
	columns := ""
	if r.Columns != nil {
		columns = "(" + strings.Join(r.Columns, ", ") + ")"
	}
	return "GRANT SELECT" + columns + " ON " + r.Database + "." + r.Table
}

// Policy shows a user those rows of a table or view for which the condition holds.
type Policy struct {
	Database, Table, Where string
}

// Rights returns what every user may read, over the tables of a database.
func Rights(tables string) []Right {
	var all []Right
	columns := map[string][]string{}
	for _, v := range schemas.Surface() {
		all = append(all, Right{Database: Database(tables), Table: v.Name})
		columns[v.Table] = append(columns[v.Table], v.Reads...)
	}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		slices.Sort(columns[table])
		all = append(all, Right{Database: tables, Table: table, Columns: slices.Compact(columns[table])})
	}
	return all
}

// listed are the tables of the server in which a user sees the views and nothing of the tables behind them, whose
// sizes are those of all accounts: by table, the column that has the name of a database.
var listed = map[string]string{
	"tables": "database", "columns": "database", "databases": "name", "parts": "database", "parts_columns": "database",
}

// Policies returns the rows that a user of an account may see. Every right of [Rights] has one.
func Policies(tables string, account fleet.AccountID) []Policy {
	var all []Policy
	for _, r := range Rights(tables) {
		where := fmt.Sprintf("account = %d", uint64(account))
		if r.Columns == nil {
			where = fmt.Sprintf("account_id = '%s'", account)
		}
		all = append(all, Policy{Database: r.Database, Table: r.Table, Where: where})
	}
	for _, table := range slices.Sorted(maps.Keys(listed)) {
		all = append(all, Policy{Database: "system", Table: table, Where: listed[table] + " = " + quote(Database(tables))})
	}
	return all
}

// Settings are what holds for every query of a user, who cannot change it. Indexes are off: the engine works a
// condition out on the keys of all accounts to see what it has to read, so that a division by zero would tell what
// others have. A query therefore reads its columns of all accounts, in the months that it asks for.
var Settings = map[string]string{
	"final":                         "1", // whoever reads a table sees its newest rows, as whoever reads its view
	"allow_ddl":                     "0",
	"allow_introspection_functions": "0",
	"cancel_http_readonly_queries_on_client_close": "1", // who went away runs nothing any more
	"timeout_overflow_mode":                        "throw",
	"read_overflow_mode":                           "throw",
	"use_primary_key":                              "0",
	"use_skip_indexes":                             "0",
	"use_skip_indexes_on_data_read":                "0",
}

// Limits are the most that a query of a user may take, which the user may lower for a query but not raise.
var Limits = map[string]uint64{
	"max_execution_time":              60, // seconds
	"max_memory_usage":                1 << 30,
	"max_rows_to_read":                1_000_000_000,
	"max_result_rows":                 2_000_000,
	"max_result_bytes":                1 << 30,
	"max_threads":                     2,
	"max_concurrent_queries_for_user": 8,
	"max_temporary_columns":           2000,
	"max_query_size":                  1 << 18, // bytes
}

// Choices are the settings that clients send with a query and that a user may set freely: how an answer is written, and
// nothing that changes what is read.
var Choices = []string{
	"date_time_input_format", "date_time_output_format", "enable_http_compression", "extremes",
	"http_headers_progress_interval_ms", "http_receive_timeout", "http_response_buffer_size", "http_send_timeout",
	"http_wait_end_of_query", "http_write_exception_in_output_format", "join_use_nulls", "log_comment", "max_block_size",
	"output_format_arrow_compression_method", "output_format_arrow_string_as_string",
	"output_format_binary_write_json_as_string",
	"output_format_json_named_tuples_as_objects", "output_format_json_quote_64bit_integers",
	"output_format_json_quote_decimals", "output_format_json_quote_denormals", "output_format_json_quote_64bit_floats",
	"output_format_native_encode_types_in_binary_format",
	"output_format_native_use_flattened_dynamic_and_json_serialization",
	"output_format_parquet_compression_method", "output_format_parquet_string_as_string", "receive_timeout",
	"result_overflow_mode", "send_progress_in_http_headers", "send_timeout", "session_timezone", "use_client_time_zone",
}

// Quotas are the most that a user may take of a server, by seconds. The embedded engine does not hold them.
var Quotas = []Quota{{60, 600, 2_000_000_000}, {86400, 50_000, 100_000_000_000}}

// Quota is what a user may take within some seconds.
type Quota struct {
	Seconds, Queries, ReadRows int
}

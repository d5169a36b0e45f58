package rest

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
)

// ExportTime is the deadline of operations that answer with as much as there is.
const ExportTime = 10 * time.Minute

// FormatParam lets a caller choose the form of an answer by name instead of by Accept.
func FormatParam(among []export.Format) Param {
	return Param{Name: "format", Enum: export.Names(among),
		About: "Form of the answer, instead of an Accept header. Every form but `json` answers with all that matches, as a stream without pages: with `page`, `per_page` or `cursor` it is a 400."}
}

// FormatOf returns the form that the caller wants.
func FormatOf(r *http.Request, among []export.Format) (export.Format, error) {
	f, err := export.Choose(TextParam(r, "format", ""), r.Header.Get("Accept"), among)
	if err != nil {
		return "", fleet.NewError(codeAccept, "The form you ask for is not offered: "+err.Error()+".")
	}
	return f, nil
}

// Prefers says whether a caller would rather have a media type than JSON, by the Accept header.
func Prefers(r *http.Request, mediaType string) bool {
	accept := r.Header.Get("Accept")
	return export.Quality(mediaType, accept) > export.Quality("application/json", accept)
}

// RefusePaging refuses paging parameters for an answer that has no pages.
func RefusePaging(r *http.Request, why string) error {
	for _, name := range []string{"page", "per_page", "cursor"} {
		if queryOf(r).Has(name) {
			return InvalidParam(name, "cannot be combined with "+why+", which answers with everything at once")
		}
	}
	return nil
}

// LargePage reads the paging parameters of a list whose pages may be larger than usual.
func LargePage(r *http.Request, list string, perPage int) (Page, error) {
	p, err := PageOf(r, list)
	if err != nil || r.URL.Query().Has("per_page") {
		return p, err
	}
	p.PerPage = perPage
	if p.After == nil && p.Number*p.PerPage > maxOffset {
		return p, InvalidParam("page",
			fmt.Sprintf("times per_page must not exceed %d; follow next_cursor to go further", maxOffset))
	}
	return p, nil
}

// LargePageParams are the parameters of such a list.
func LargePageParams(perPage, most int) []Param {
	return []Param{
		PageParams[0],
		{Name: "per_page", Type: "integer", Min: 1, Max: float64(most),
			About: fmt.Sprintf("Rows on a page; %d unless given, at most %d.", perPage, most)},
		PageParams[2],
	}
}

// RowKey is a row of an answer and the sort keys from which a page behind it would go on. Both are valid until the next
// row; the keys, of which a list without a cursor has none, are asked for where a page ends.
type RowKey struct {
	Row []export.Value
	Key func() []string
}

// WriteRows answers with one page of a list whose rows are encoded as they come; rows must give one more than the page
// holds if there are more.
func WriteRows(w http.ResponseWriter, r *http.Request, list string, p Page, total int, columns []export.Column,
	rows iter.Seq2[RowKey, error]) error {
	body, done := newAnswer()
	defer done()
	body.WriteString(`{"data":`)
	table, err := export.NewTable(export.JSON, body, columns)
	if err != nil {
		return err
	}
	n, next := 0, ""
	var last []string
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n == p.PerPage {
			next = EncodeCursor(Cursor{After: last, Page: p.Number + 1, List: listed(r, list)})
			break
		}
		if err := table.Write(row.Row); err != nil {
			return err
		}
		if n++; n == p.PerPage && row.Key != nil {
			last = row.Key()
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	pagination, err := json.Marshal(Pagination{Page: p.Number, PerPage: p.PerPage, Total: total, NextCursor: next})
	if err != nil {
		return err
	}
	fmt.Fprintf(body, ",\"pagination\":%s}\n", pagination)
	w.Header().Set("Link", links(r, p, total, next))
	return writeBody(w, r, http.StatusOK, body.Bytes())
}

// Download answers with everything that write gives, as a file of a format. What goes wrong once the answer has begun
// cuts the connection, because a part must not look like the whole.
func (a *Server) Download(w http.ResponseWriter, r *http.Request, f export.Format, name string,
	write func(w http.ResponseWriter) error) error {
	h := w.Header()
	h.Set("Content-Type", f.MediaType())
	if f == export.CSV {
		h.Set("Content-Type", "text/csv; charset=utf-8")
	}
	h.Set("Content-Disposition", `attachment; filename="`+name+f.Extension()+`"`)
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if _, err := a.LongTurn(w, r); err != nil {
		return err // what is read already takes memory while a slow client reads it
	}
	counted := &countingWriter{ResponseWriter: w}
	err := write(counted)
	if err == nil {
		return nil
	}
	if !counted.begun {
		h.Del("Content-Disposition")
		return err
	}
	// Some of it may still wait in a buffer that a problem would be appended to.
	panic(a.cutShort(r, err))
}

// countingWriter knows whether anything was written.
type countingWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *countingWriter) Write(b []byte) (int, error) {
	w.begun = w.begun || len(b) > 0
	return w.ResponseWriter.Write(b)
}

// WriteTable writes rows as a table of a format.
func WriteTable(w http.ResponseWriter, f export.Format, columns []export.Column, rows iter.Seq2[RowKey, error]) error {
	table, err := export.NewTable(f, w, columns)
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := table.Write(row.Row); err != nil {
			return err
		}
	}
	return table.Close()
}

// DownloadViews answers with views of one type: newline-delimited objects, or a table.
func (a *Server) DownloadViews(w http.ResponseWriter, r *http.Request, format export.Format, name string, none any,
	views iter.Seq2[any, error]) error {
	metric := MetricUnits(r)
	return a.Download(w, r, format, name, func(w http.ResponseWriter) error {
		if format == export.NDJSON {
			for view, err := range views {
				if err != nil {
					return err
				}
				line, err := EncodeJSON(view, metric)
				if err != nil {
					return err
				}
				if _, err := w.Write(line); err != nil {
					return err
				}
			}
			return nil
		}
		return WriteTable(w, format, FlatColumns(none, metric), func(yield func(RowKey, error) bool) {
			var row []export.Value
			for view, err := range views {
				if err != nil {
					yield(RowKey{}, err)
					return
				}
				row = FlatRow(row[:0], view, metric)
				if !yield(RowKey{Row: row}, nil) {
					return
				}
			}
		})
	})
}

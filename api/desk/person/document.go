package person

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// DocumentTypes are the media types of the files that documents may have.
var DocumentTypes = []string{"application/pdf", "image/jpeg", "image/png", "image/webp", "image/heic"}

// chunkSize is how much of a file one row of document_files holds.
const chunkSize = 256 << 10

// dropFiles registers that a file which its document no longer has is removed.
func (d *Persons) dropFiles() {
	d.Store.Then(d.Documents.Kind().Name, "file of a document", func(ctx context.Context, w record.Written) error {
		before, after, err := record.Bodies[record.Document](w)
		if err != nil || before == nil || before.Upload == 0 ||
			before.Upload == after.Upload && w.Action != record.ActionArchive {
			return err
		}
		return d.deleteFile(ctx, w.Account, w.ID, before.Upload)
	})
}

func (d *Persons) deleteFile(ctx context.Context, account fleet.AccountID, document, upload uint64) error {
	if err := d.DB.Exec(ctx, schemas.Query("document_file_delete"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("document", document), clickhouse.Named("upload", upload)); err != nil {
		return fmt.Errorf("delete file %d of document %d: %w", upload, document, err)
	}
	return nil
}

// FileType is the media type that the content of a file shows, of DocumentTypes, or "".
func FileType(content []byte) string {
	if len(content) >= 12 && string(content[4:8]) == "ftyp" {
		switch brand := string(content[8:12]); brand {
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
			return "image/heic"
		}
	}
	switch found, _, _ := strings.Cut(http.DetectContentType(content), ";"); found {
	case "application/pdf", "image/jpeg", "image/png", "image/webp":
		return found
	}
	return ""
}

// PutFile stores the file of a document in the place of the one that it had. check may refuse the document.
func (d *Persons) PutFile(ctx context.Context, by record.Author, account fleet.AccountID, document uint64,
	contentType string, content []byte,
	check func(*record.Record[record.Document]) error) (record.Record[record.Document], error) {
	before, err := d.Documents.Get(ctx, account, document)
	if err != nil {
		return before, err
	}
	customer, err := fleet.ParseID(fleet.CustomerPrefix, before.Body.CustomerID)
	if err != nil {
		return before, fmt.Errorf("document %d: %w", document, err)
	}
	upload := record.RandomID()
	if err := d.insertFile(ctx, account, customer, document, upload, content); err != nil {
		return before, err
	}
	sum := sha256.Sum256(content)
	rec, err := d.Documents.Update(ctx, by, account, document, 0, func(r *record.Record[record.Document]) error {
		if err := check(r); err != nil {
			return err
		}
		r.Body.ContentType, r.Body.Size, r.Body.SHA256 = contentType, int64(len(content)), hex.EncodeToString(sum[:])
		r.Body.UploadedAt, r.Body.Upload = record.InstantOf(d.Now()), upload
		return nil
	})
	if code := fleet.CodeOf(err); code != "" && code != fleet.CodeUnavailable {
		// The document was not written, and nothing will ever name what was stored for it.
		if err := d.deleteFile(ctx, account, document, upload); err != nil {
			d.Log.WarnContext(ctx, "a file stays that no document has", "document", document, "upload", upload, "error", err)
		}
	}
	return rec, err
}

func (d *Persons) insertFile(ctx context.Context, account fleet.AccountID, customer, document, upload uint64,
	content []byte) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": fmt.Sprintf("document_file:%d:%d:%d", account, document, upload),
		"insert_deduplicate":         1, "async_insert": 0}))
	batch, err := d.DB.PrepareBatch(ctx, "INSERT INTO document_files (account, customer, document, upload, chunk, data)")
	if err != nil {
		return fmt.Errorf("store a file of document %d: %w", document, err)
	}
	for chunk := uint32(0); len(content) > 0; chunk++ {
		part := content[:min(chunkSize, len(content))]
		content = content[len(part):]
		if err := batch.Append(uint64(account), customer, document, upload, chunk, string(part)); err != nil {
			batch.Abort()
			return fmt.Errorf("store a file of document %d: %w", document, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("store a file of document %d: %w", document, err)
	}
	return nil
}

// File returns the file of a document: whole, and as it was uploaded, or an error.
func (d *Persons) File(ctx context.Context, rec *record.Record[record.Document]) (io.Reader, error) {
	var content bytes.Buffer
	args := []any{
		clickhouse.Named("account", uint64(rec.Account)), clickhouse.Named("document", rec.ID),
		clickhouse.Named("upload", rec.Body.Upload),
	}
	doing := fmt.Sprintf("read the file of document %d", rec.ID)
	err := schemas.EachRow(ctx, d.DB, doing, schemas.Query("document_file"), args, func(row schemas.Row) error {
		var part string
		err := row.Scan(&part)
		content.WriteString(part)
		return err
	})
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content.Bytes()); hex.EncodeToString(sum[:]) != rec.Body.SHA256 {
		return nil, fmt.Errorf("the file of document %d is not the one that was uploaded: %d bytes of %d", rec.ID,
			content.Len(), rec.Body.Size)
	}
	return &content, nil
}

package rent

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk/person"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Document is a paper of a customer as it is answered.
type Document struct {
	ID string `json:"id" doc:"Identity." example:"doc_1234"`
	record.DocumentFields
	Object      string         `json:"object" doc:"Always document." example:"document"`
	CustomerID  string         `json:"customer_id" example:"cus_1234"`
	Expired     bool           `json:"expired" doc:"expires_on has passed."`
	HasFile     bool           `json:"has_file" doc:"Whether a file was uploaded."`
	ContentType string         `json:"content_type,omitempty" doc:"Of the file." example:"application/pdf"`
	SizeBytes   int64          `json:"size_bytes,omitempty" doc:"Of the file."`
	SHA256      string         `json:"sha256,omitempty" doc:"Of the file, in hex."`
	UploadedAt  record.Instant `json:"uploaded_at" doc:"Null without a file."`
	rest.Stamps
}

// binary is the schema of a body that is a file.
var binary = &huma.Schema{Type: "string", Format: "binary"}

// FileLimit is the size of the largest file of a document, in bytes.
const FileLimit = 5 << 20

func (a *API) customerDocumentRoutes() {
	s := &customerPart[record.Document]{api: a, path: "/v1/customers/{id}/documents", noun: "document",
		name: "CustomerDocument", log: a.desk.Documents, listing: &query.Documents,
		view: Document{}, fields: record.DocumentFields{}, owner: func(d *record.Document) *string { return &d.CustomerID },
		writable: func(d *record.Document) any { return &d.DocumentFields },
		complete: func(*http.Request, *record.Document) {}, show: a.showDocument,
	}
	s.register()
	a.Handle(rest.Route{Method: "PUT", Path: s.one() + "/file", ID: "putCustomerDocumentFile", Tag: "Customers",
		Scope:   auth.CustomersWrite,
		Summary: "Upload the file of a document",
		About:   "The body is the file itself, at most 5 MiB; what it contains must be what `Content-Type` says. It takes the place of the file that the document had.",
		Params:  []rest.Param{rest.IfMatchParam},
		Body:    binary, BodyTypes: person.DocumentTypes, BodyLimit: FileLimit, Reply: Document{}},
		func(w http.ResponseWriter, r *http.Request) error { return a.putFile(s, w, r) })
	a.Handle(rest.Route{Method: "GET", Path: s.one() + "/file", ID: "getCustomerDocumentFile", Tag: "Customers",
		Scope:   auth.CustomersPII,
		Summary: "Download the file of a document", About: "404 if none was uploaded.", Reply: binary,
		ReplyTypes: []string{"*/*"}},
		func(w http.ResponseWriter, r *http.Request) error { return a.getFile(s, w, r) })
}

func (a *API) showDocument(rec record.Record[record.Document]) any {
	b := rec.Body
	return Document{ID: fleet.FormatID(fleet.DocumentPrefix, rec.ID), DocumentFields: b.DocumentFields, Object: "document",
		CustomerID: b.CustomerID,
		Expired:    b.ExpiresOn != "" && b.ExpiresOn < a.Now().UTC().Format(time.DateOnly), HasFile: b.Upload != 0 &&
			!rec.Archived(),
		ContentType: b.ContentType, SizeBytes: b.Size, SHA256: b.SHA256, UploadedAt: b.UploadedAt, Stamps: rest.StampsOf(rec)}
}

func (a *API) putFile(s *customerPart[record.Document], w http.ResponseWriter, r *http.Request) error {
	part, err := s.load(r)
	if err != nil {
		return err
	}
	content := rest.RequestBody(r)
	declared, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return err // readBody has parsed it
	}
	if found := person.FileType(content); found != declared {
		return fleet.NewError(fleet.CodeMediaType, "The content is not "+declared+
			", as the Content-Type says. Send a file of one of the types "+strings.Join(person.DocumentTypes, ", ")+".")
	}
	part, err = a.desk.Persons.PutFile(r.Context(), rest.Author(r), part.Account, part.ID, declared, content,
		func(rec *record.Record[record.Document]) error {
			return rest.Precondition(r, rec.Revision)
		})
	if err != nil {
		return err
	}
	w.Header().Set("ETag", rest.ETagOf(part.Revision, nil))
	return rest.WriteJSON(w, r, http.StatusOK, s.show(part))
}

func (a *API) getFile(s *customerPart[record.Document], w http.ResponseWriter, r *http.Request) error {
	part, err := s.load(r)
	if err != nil {
		return err
	}
	if part.Body.Upload == 0 {
		return fleet.NewError(fleet.CodeNotFound, "The document has no file yet.")
	}
	content, err := a.desk.Persons.File(r.Context(), &part)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", part.Body.ContentType)
	h.Set("Content-Length", strconv.FormatInt(part.Body.Size, 10))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(&part)}))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = io.Copy(w, content)
	return err
}

// fileName is what a file is called when it is downloaded: the document's name, or its id, with the ending of its type.
func fileName(part *record.Record[record.Document]) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, part.Body.Name)
	if strings.Trim(name, ". ") == "" {
		name = fleet.FormatID(fleet.DocumentPrefix, part.ID)
	}
	ending := map[string]string{"application/pdf": ".pdf", "image/jpeg": ".jpg", "image/png": ".png",
		"image/webp": ".webp", "image/heic": ".heic"}[part.Body.ContentType]
	if !strings.HasSuffix(strings.ToLower(name), ending) {
		name += ending
	}
	return name
}

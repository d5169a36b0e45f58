package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Code classifies an error for whoever called us; the set is closed and api maps each code to one HTTP status.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid_request"    // cannot be understood: 400
	CodeUnauthorized Code = "unauthorized"       // no valid credential: 401
	CodeForbidden    Code = "insufficient_scope" // valid credential, scope missing: 403
	CodeNotFound     Code = "not_found"          // no such thing, or somebody else's: 404
	CodeConflict     Code = "conflict"           // the state of things forbids it: 409
	CodeTransition   Code = "invalid_state_transition"
	CodeConfirm      Code = "confirmation_required" // is to be believed only if it is said again: 409
	CodeStale        Code = "precondition_failed"   // somebody else wrote first: 412
	CodeTooLarge     Code = "payload_too_large"     // 413
	CodeMediaType    Code = "unsupported_media_type"
	CodeValidation   Code = "validation_failed"    // understood and not acceptable: 422
	CodeRateLimited  Code = "rate_limited"         // 429
	CodeUnavailable  Code = "unavailable"          // a store or broker does not answer: 503
	CodeFull         Code = "insufficient_storage" // nothing can be stored, reads go on: 507
)

// Error is the only error whose text is shown to callers of the interface. Message says what is wrong and what to do,
// in a sentence for people; Fields, if any, says which parts of the input are meant.
type Error struct {
	Code    Code
	Message string
	Fields  []FieldError
}

// FieldError names one part of an input, by JSON pointer or parameter name, and what is wrong with it.
type FieldError struct {
	Pointer string
	Code    string
	Detail  string
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// PointerPart writes the name of a member as a part of a JSON pointer.
func PointerPart(name string) string { return pointerEscapes.Replace(name) }

// Between says where a number must lie, for a FieldError.
func Between(least, most float64) string {
	return "must be between " + strconv.FormatFloat(least, 'f', -1, 64) + " and " + strconv.FormatFloat(most, 'f', -1, 64)
}

// NoSuch says of a member that names a record (a noun, and the prefix of its ids) that there is none: it was left
// empty, it is no id of the kind, or the account has no such record.
func NoSuch(pointer, noun, prefix, id string) FieldError {
	f := FieldError{Pointer: pointer, Code: string(CodeNotFound)}
	if _, err := ParseID(prefix, id); id == "" {
		f.Detail = "must name a " + noun
	} else if err != nil {
		f.Detail = fmt.Sprintf("%.40q is not the id of a %s: those are %s and digits", id, noun, prefix)
	} else {
		f.Detail = fmt.Sprintf("the account has no %s %s", noun, id)
	}
	return f
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// NewError makes an Error; message is a whole sentence that says what is wrong and what to do.
func NewError(code Code, message string, fields ...FieldError) *Error {
	return &Error{Code: code, Message: message, Fields: fields}
}

// Invalid makes the Error of an input that is understood and not acceptable, for one reason at least. Its message is
// the first of them: people read that one sentence.
func Invalid(fields ...FieldError) *Error {
	first := fields[0]
	message := Sentence(first.Detail)
	if name := strings.ReplaceAll(strings.Trim(first.Pointer, "/"), "/", "."); name != "" {
		message = name + ": " + message
	} else {
		message = strings.ToUpper(message[:1]) + message[1:]
	}
	if more := len(fields) - 1; more > 0 {
		message += fmt.Sprintf(" errors names %d more.", more)
	}
	return NewError(CodeValidation, message, fields...)
}

// Sentence ends a text as a sentence ends, unless it does already.
func Sentence(text string) string {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// CodeOf returns the code of the first *Error in the chain of err, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

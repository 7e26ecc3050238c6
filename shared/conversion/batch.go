package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Batch is the body of a request with conversions.
type Batch struct {
	Key   string // the publishable key; "": none
	Items []Item
}

// DecodeBatch decodes a body in JSON: a conversion, a list of them, or an object with the list as items. An object may also have the key.
// field is the member to blame for a problem, or "". problem is "" for a body that is valid.
func DecodeBatch(body []byte) (batch Batch, field, problem string) {
	body = bytes.TrimSpace(body)
	var err error
	if bytes.HasPrefix(body, []byte("[")) {
		err = decodeStrictly(body, &batch.Items)
	} else {
		var one struct {
			Key   string  `json:"key"`
			Items *[]Item `json:"items"`
			Item
		}
		err = decodeStrictly(body, &one)
		if batch.Key = one.Key; one.Items == nil {
			batch.Items = []Item{one.Item}
		} else if batch.Items = *one.Items; err == nil && !blank(&one.Item) {
			return batch, "items", "must be the only member besides key"
		}
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return batch, "", ""
	case errors.As(err, &wrong) && wrong.Field != "":
		return batch, wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], "must not be a " + wrong.Value
	case strings.HasPrefix(err.Error(), unknownMember):
		return batch, strings.Trim(err.Error()[len(unknownMember):], `"`), "is not a known property"
	}
	return batch, "", "The body is not valid JSON."
}

// unknownMember begins the error of encoding/json for a member that a struct does not have.
const unknownMember = "json: unknown field "

func decodeStrictly(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body contains more than one value")
	}
	return nil
}

func blank(i *Item) bool {
	return i.ClickID == "" && i.Name == "" && i.Value == nil && i.Currency == "" && i.ExternalID == "" && i.OccurredAt == "" &&
		!i.Repeatable
}

package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/tiergrid/tiergrid/admin/api"
)

// readJSON decodes the body of r, which must be one JSON value without unknown
// fields. The media type must be given: no page of another site can send it
// unasked.
func readJSON(r *http.Request, into any) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return fmt.Errorf("%w: send the body as application/json", api.ErrMediaType)
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return bodyError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("something follows the JSON value")
		}
		return bodyError(err)
	}
	return nil
}

// bodyError says what is wrong with a body. The texts of encoding/json name
// fields and types, never values of fields.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return fmt.Errorf("%w: the body may have %d bytes", api.ErrTooLarge, tooLarge.Limit)
	}
	return fmt.Errorf("%w: body: %v", api.ErrBadRequest, err)
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	return write(w, status, "application/json", v)
}

func writeProblem(w http.ResponseWriter, p *api.Problem) {
	// A problem can always be encoded, and a client that has gone needs none.
	_ = write(w, p.Status, api.ProblemType, p)
}

// write sends v. It returns an error only when nothing was written.
func write(w http.ResponseWriter, status int, mediaType string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
	return nil
}

package main

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// objects is an object store with the operations of S3 that rclone needs to copy, compare and list. It keeps headers of metadata only in
// memory.
type objects struct {
	dir  string
	meta sync.Map // headers by path
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := filepath.Join(o.dir, filepath.Clean("/"+r.URL.Path))
	bucket, key, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case !strings.Contains(r.Header.Get("Authorization"), "Credential=KEY/"):
		http.Error(w, "who are you?", http.StatusForbidden)
	case key == "" && r.Method == http.MethodPut:
		_ = os.MkdirAll(path, 0o755)
	case key == "" && r.Method == http.MethodGet:
		o.list(w, r, bucket)
	case r.Method == http.MethodPut:
		if err := readAll(path, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		o.meta.Store(path, r.Header)
		w.Header().Set("ETag", etag(path))
	case r.Method == http.MethodDelete:
		_ = os.Remove(path)
		w.WriteHeader(http.StatusNoContent)
	default:
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		if header, ok := o.meta.Load(path); ok {
			for name, values := range header.(http.Header) {
				if strings.HasPrefix(name, "X-Amz-Meta-") {
					w.Header()[name] = values
				}
			}
		}
		w.Header().Set("ETag", etag(path))
		http.ServeFile(w, r, path)
	}
}

type entry struct {
	Key          string
	LastModified string
	ETag         string
	Size         int64
}

type prefix struct{ Prefix string }

type listing struct {
	XMLName        xml.Name `xml:"ListBucketResult"`
	Name, Prefix   string
	IsTruncated    bool
	Contents       []entry
	CommonPrefixes []prefix
}

// list answers both versions of the listing, in one page.
func (o *objects) list(w http.ResponseWriter, r *http.Request, bucket string) {
	want, delimiter := r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter")
	out := listing{Name: bucket, Prefix: want}
	root := filepath.Join(o.dir, bucket)
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key := strings.TrimPrefix(path, root+"/")
		rest, ok := strings.CutPrefix(key, want)
		if !ok {
			return nil
		}
		if head, _, found := strings.Cut(rest, "/"); found && delimiter != "" {
			if !seen[head] {
				seen[head] = true
				out.CommonPrefixes = append(out.CommonPrefixes, prefix{want + head + "/"})
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out.Contents = append(out.Contents, entry{key, info.ModTime().UTC().Format(time.RFC3339), etag(path), info.Size()})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<Error><Code>NoSuchBucket</Code></Error>"))
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out) // the client has gone
}

// etag is the MD5 sum of a file, as in S3.
func etag(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return `""`
	}
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

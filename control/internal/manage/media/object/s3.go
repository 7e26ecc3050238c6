package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/shortline/shortline/shared/config"
)

// S3Config locates a bucket. Without an endpoint, images are stored in a folder.
type S3Config struct {
	Endpoint  string        `env:"MEDIA_S3_ENDPOINT" help:"endpoint of an S3-compatible store for images, such as https://s3.eu-central-1.amazonaws.com; empty keeps images in DATA_DIR"`
	Bucket    string        `env:"MEDIA_S3_BUCKET" help:"the bucket for images; it must exist"`
	Prefix    string        `env:"MEDIA_S3_PREFIX" help:"what keys in the bucket begin with"`
	Region    string        `env:"MEDIA_S3_REGION" help:"the bucket's region"`
	AccessKey string        `env:"MEDIA_S3_ACCESS_KEY" help:"access key of the bucket"`
	SecretKey config.Secret `env:"MEDIA_S3_SECRET_KEY" help:"secret key of the bucket"`
}

// Validate reports all problems.
func (c S3Config) Validate() error {
	if c.Endpoint == "" {
		return nil
	}
	var problems []error
	if u, err := url.Parse(c.Endpoint); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		strings.Trim(u.Path, "/") != "" || u.User != nil {
		problems = append(problems, errors.New("MEDIA_S3_ENDPOINT: must be an http or https address without a path"))
	}
	if c.Bucket == "" {
		problems = append(problems, errors.New("MEDIA_S3_BUCKET: is required with MEDIA_S3_ENDPOINT"))
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		problems = append(problems, errors.New("MEDIA_S3_ACCESS_KEY, MEDIA_S3_SECRET_KEY: set both or neither"))
	}
	return errors.Join(problems...)
}

// S3 stores objects in a bucket.
type S3 struct {
	client         *minio.Client
	bucket, prefix string
}

// NewS3 returns a client. It sends no request yet.
func NewS3(cfg S3Config) (*S3, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(cfg.Endpoint)
	if err != nil || u.Host == "" {
		return nil, errors.New("MEDIA_S3_ENDPOINT: is required")
	}
	signer := credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey.Reveal(), "")
	client, err := minio.New(u.Host, &minio.Options{Creds: signer, Secure: u.Scheme == "https", Region: cfg.Region, MaxRetries: 3})
	if err != nil {
		return nil, fmt.Errorf("create S3 client: %w", err)
	}
	prefix := strings.Trim(cfg.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &S3{client, cfg.Bucket, prefix}, nil
}

// Put writes an object in one request.
func (s *S3) Put(ctx context.Context, key, contentType string, data []byte) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true})
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	return nil
}

// Get opens an object, with one request.
func (s *S3) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	core := minio.Core{Client: s.client}
	r, info, _, err := core.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if isMissing(err) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get object: %w", err)
	}
	return r, info.Size, nil
}

func isMissing(err error) bool {
	answer := minio.ToErrorResponse(err)
	return err != nil && answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket
}

// Delete removes an object.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{}); err != nil && !isMissing(err) {
		return fmt.Errorf("delete object: %w", err)
	}
	return nil
}

// List pages through the bucket, below the prefix.
func (s *S3) List(ctx context.Context, each func(Item) error) error {
	ctx, cancel := context.WithCancel(ctx) // stops the listing if each fails
	defer cancel()
	for o := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}) {
		if o.Err != nil {
			return fmt.Errorf("list objects: %w", o.Err)
		}
		if err := each(Item{strings.TrimPrefix(o.Key, s.prefix), o.LastModified}); err != nil {
			return fmt.Errorf("list objects: %w", err)
		}
	}
	return ctx.Err()
}

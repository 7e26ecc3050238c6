package store

import "context"

// CreateAt creates an empty database with an older schema.
func CreateAt(ctx context.Context, cfg Config, schema int64) error {
	s, err := connect(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := s.newMigrations(s.write)
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, schema)
	return err
}

// Connect opens a database without migrating it, as a program of an earlier release would.
func Connect(cfg Config) (*Store, error) { return connect(cfg) }

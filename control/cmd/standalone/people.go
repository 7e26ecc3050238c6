package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
)

// peopleFolder holds the settings of commands on users.
type peopleFolder struct {
	Folder        folder
	EncryptionKey config.Secret `env:"ENCRYPTION_KEY" help:"as for the program; empty: the generated key in DATA_DIR"`
	AuditKey      config.Secret `env:"AUDIT_KEY" help:"as for the program; empty means ENCRYPTION_KEY"`
	AdminPassword config.Secret `env:"ADMIN_PASSWORD" help:"password for create-admin; empty generates one and prints it"`
}

// Validate reports every problem.
func (s *peopleFolder) Validate() error {
	return errors.Join(s.EncryptionKey.CheckKeys("ENCRYPTION_KEY"), s.AuditKey.CheckKeys("AUDIT_KEY"))
}

// onPeople returns a command on users. It works while standalone runs, too: both write to the database in turn.
func onPeople(name, args, about string, f func(p *commands.People, ctx context.Context, args []string) error) cli.Command {
	return cli.Command{
		Name: name, Args: args, About: about + "; standalone may be running",
		New: func() config.Validator { return new(peopleFolder) },
		Run: func(ctx context.Context, s config.Validator, args []string, stdout, _ io.Writer) error {
			private()
			return s.(*peopleFolder).withPeople(ctx, stdout, func(p *commands.People) error { return f(p, ctx, args) })
		},
	}
}

func onUser(name, about string, f func(p *commands.People, ctx context.Context, email string) error) cli.Command {
	return onPeople(name, "EMAIL", about, func(p *commands.People, ctx context.Context, args []string) error { return f(p, ctx, args[0]) })
}

// withPeople opens the database of links and users, without a lock on the folder.
func (s *peopleFolder) withPeople(ctx context.Context, out io.Writer, f func(*commands.People) error) (err error) {
	if err := s.Folder.used(); err != nil {
		return err
	}
	if s.EncryptionKey == "" {
		kept, err := readSecrets(s.Folder.DataDir)
		if err != nil {
			return fmt.Errorf("ENCRYPTION_KEY: is not set, and %w", err)
		}
		s.EncryptionKey = config.Secret(kept.EncryptionKey)
	}
	keys := append(s.AuditKey.Keys(), s.EncryptionKey.Keys()...)
	links, err := openLinks(ctx, s.Folder.DataDir, store.Config{AuditKeys: keys, Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, links.Close()) }()
	return f(&commands.People{Store: links, Password: s.AdminPassword, Out: out})
}

// Command control is the control plane: the management API, links for edges, clicks from Kafka into ClickHouse, and
// webhooks. One process does all of it, or some of it (ROLES), beside others on the same database.
//
// It is also what operators run on that database, standalone's included (DATABASE_URL=sqlite:DATA_DIR/shortline.db,
// while standalone is stopped): see control -help.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/program"
)

var controlProgram = program.Program{
	Name: "control", About: "control is the control plane: API, links for edges, clicks and reports, webhooks.",
	New: func() program.Settings { return new(settings) },
	Run: func(ctx context.Context, s program.Settings, stdout, stderr io.Writer) error {
		return run(ctx, s.(*settings), stdout, stderr)
	},
	Commands: []program.Command{
		command("migrate", "", "bring the schemas up to date, ClickHouse's too where CLICKHOUSE_URL is set", migrate),
		command("verify-audit", "", "check that no row of the audit log was changed, removed or put in", verifyAudit),
		command("create-admin", "EMAIL", "make an administrator; the password is ADMIN_PASSWORD, or is made and printed", createAdmin),
		command("rotate-keys", "", "seal every secret again with the first key of ENCRYPTION_KEY", rotateKeys),
	},
}

func main() { controlProgram.Main() }

// work is one command with its settings loaded.
type work func(ctx context.Context, s *operator, args []string, out io.Writer) error

func command(name, args, about string, f work) program.Command {
	return program.Command{
		Name: name, Args: args, About: about,
		New: func() config.Validator { return new(operator) },
		Run: func(ctx context.Context, s config.Validator, args []string, stdout, _ io.Writer) error {
			return f(ctx, s.(*operator), args, stdout)
		},
	}
}

func migrate(ctx context.Context, s *operator, _ []string, out io.Writer) error {
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, "the database's schema is up to date")
	if s.ClickHouse.URL == "" {
		return nil
	}
	clicks, err := s.ClickHouse.open(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ClickHouse's schema is up to date")
	return clicks.Close()
}

func verifyAudit(ctx context.Context, s *operator, _ []string, out io.Writer) error {
	head, err := s.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rows, none changed; the newest has the hash %s\nKeep this hash elsewhere: only it reveals a later removal of the newest rows.\n", head.Seq, head.Hash)
	return nil
}

func createAdmin(ctx context.Context, s *operator, args []string, out io.Writer) error {
	password, err := s.CreateAdmin(ctx, args[0])
	if err != nil {
		return err
	}
	if password == "" {
		fmt.Fprintf(out, "%s is an administrator\n", args[0])
	} else {
		fmt.Fprintf(out, "%s is an administrator, with the password %s\n", args[0], password)
	}
	return nil
}

func rotateKeys(ctx context.Context, s *operator, _ []string, out io.Writer) error {
	n, err := s.RotateKeys(ctx)
	fmt.Fprintf(out, "%d secrets were sealed again\n", n)
	return err
}

// Command control is the control plane of a fleet: the management API, links for edges, clicks from Kafka into
// ClickHouse, and webhooks. A process has all of these roles or some (ROLES); other processes share its database.
//
// It also has the operators' commands: see control -help. They work on the database of a standalone, too, while that is
// stopped (DATABASE_URL=sqlite:DATA_DIR/shortline.db).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
)

var controlProgram = cli.Program{
	Name: "control", About: "control is the control plane of a fleet: API, links for edges, clicks and reports, webhooks.",
	New: func() cli.Settings { return new(settings) },
	Run: func(ctx context.Context, s cli.Settings, stdout, stderr io.Writer) error {
		return run(ctx, s.(*settings), stdout, stderr)
	},
	Commands: []cli.Command{
		command("migrate", "",
			"update the schemas of the database and, if CLICKHOUSE_URL or CLICKHOUSE_URLS is set, of ClickHouse; with MIGRATE_DATABASE_URL, do "+
				"it as that role and grant the role of DATABASE_URL its rights", migrate),
		onUser("create-admin", commands.CreateAdminAbout, (*commands.People).CreateAdmin),
		onUser("reset-password", commands.ResetPasswordAbout, (*commands.People).ResetPassword),
		onUser("disable-2fa", commands.DisableSecondFactorAbout, (*commands.People).DisableSecondFactor),
		command("allow-passwords", "", commands.AllowPasswordsAbout, allowPasswords),
		command("verify-audit", "", "check that no row of the audit log was changed, removed or inserted", verifyAudit),
		command("verify-clicks", "", "look for missing clicks and for reports that disagree with the clicks", verifyClicks),
		command("reclassify", commands.ReclassifyArgs, "enrich clicks again with the current geo database and list of bots", reclassify),
		command("shards", "", "list the shards of clicks, and how many workspaces each one holds", listShards),
		command("open-shard", "NAME", "let new workspaces be assigned to a shard that all processes know", openShard),
		command("adopt-shard", "NAME", "accept that a shard is another database than before, because its server was replaced", adoptShard),
		command("move-workspace", "[-cancel] SHARD WORKSPACE...",
			"move the clicks of workspaces, named by slug or ID, to another shard while clicks arrive; after an interruption, the same command "+
				"continues", moveWorkspace),
		command("rotate-keys", "", "encrypt all secrets again with the first key of ENCRYPTION_KEY", rotateKeys),
		command("keys", commands.KeysArgs,
			"list the API keys of all users; -legacy lists only those that a release without checksums has created", listKeys),
		command("backup", "DIR", "write a backup of the database, the clicks and the images into a new folder; the fleet may keep running",
			backUp),
		command("restore", "[-force] DIR",
			"restore a backup into an empty fleet; -force replaces existing data; control planes must be stopped",
			restore),
		command("public-key", "", "print the public key of SNAPSHOT_SIGNING_KEY, for SNAPSHOT_PUBLIC_KEYS at edges", publicKey),
	},
}

func main() { controlProgram.Main() }

// operated is a pointer to the settings of one command.
type operated[T any] interface {
	*T
	config.Validator
}

// command makes a Command of a function with typed settings.
func command[T any, P operated[T]](name, args, about string, f func(ctx context.Context, s P, args []string,
	out io.Writer) error) cli.Command {
	return cli.Command{
		Name: name, Args: args, About: about,
		New: func() config.Validator { return P(new(T)) },
		Run: func(ctx context.Context, s config.Validator, args []string, stdout, _ io.Writer) error {
			return f(ctx, s.(P), args, stdout)
		},
	}
}

func verifyClicks(ctx context.Context, s *clicksOperator, _ []string, out io.Writer) (err error) {
	if s.DatabaseURL != "" {
		return s.ClickHouse.known(ctx, s.DatabaseURL, func(_ *store.Store, clicks analytics.Store) error {
			return commands.VerifyClicks(ctx, clicks, out)
		})
	}
	clicks, err := s.ClickHouse.all(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	return commands.VerifyClicks(ctx, clicks, out)
}

func reclassify(ctx context.Context, s *enrichOperator, args []string, out io.Writer) error {
	return s.ClickHouse.known(ctx, s.DatabaseURL, func(links *store.Store, clicks analytics.Store) error {
		geo, err := visitor.OpenGeo(s.GeoDB)
		if err != nil {
			return err
		}
		return commands.Reclassify(ctx, args, links, clicks, geo, out, out)
	})
}

func migrate(ctx context.Context, s *migrator, _ []string, out io.Writer) error {
	if err := s.Migrate(ctx, s.OwnerURL); err != nil {
		return err
	}
	fmt.Fprintln(out, "the schema of the database is up to date")
	if !s.ClickHouse.configured() {
		return nil
	}
	if err := s.ClickHouse.migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, "the schema of ClickHouse is up to date")
	return nil
}

func verifyAudit(ctx context.Context, s *auditor, _ []string, out io.Writer) error {
	accepted, err := audit.ParseSpans(s.Unsigned)
	if err != nil {
		return fmt.Errorf("AUDIT_UNSIGNED: %w", err)
	}
	r, err := s.VerifyAudit(ctx, accepted)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rows, none changed; the newest row has the hash %s\n", r.Head.Seq, r.Head.Hash)
	switch {
	case r.SignedFrom == 0:
		fmt.Fprintln(out, "No row has an HMAC: anybody who can write to the database can also compute these hashes.")
	case s.AuditKey == "" && s.EncryptionKey == "":
		fmt.Fprintf(out,
			"Rows have an HMAC from row %d on. The HMACs were NOT checked, because neither ENCRYPTION_KEY nor AUDIT_KEY is set.\n",
			r.SignedFrom)
	default:
		fmt.Fprintf(out, "Rows have an HMAC from row %d on, and all HMACs are valid.\n", r.SignedFrom)
	}
	for _, span := range r.Unsigned {
		fmt.Fprintf(out, "Later rows without an HMAC: %v. An older release wrote them during an upgrade, or AUDIT_UNSIGNED accepts them.\n",
			span)
	}
	fmt.Fprintln(out,
		"Compare the hash with one from another place, such as the log of control, which has it every minute. Only this reveals whether the "+
			"newest rows were removed.")
	return nil
}

// onUser makes a command on one user of a method of commands.People.
func onUser(name, about string, f func(p *commands.People, ctx context.Context, email string) error) cli.Command {
	return command(name, "EMAIL", about, func(ctx context.Context, s *operator, args []string, out io.Writer) error {
		return s.People(ctx, out, func(p *commands.People) error { return f(p, ctx, args[0]) })
	})
}

func allowPasswords(ctx context.Context, s *operator, _ []string, out io.Writer) error {
	return s.People(ctx, out, func(p *commands.People) error { return p.AllowPasswords(ctx) })
}

func listKeys(ctx context.Context, s *operator, args []string, out io.Writer) error {
	return s.Keys(ctx, args, out)
}

func publicKey(_ context.Context, s *signing, _ []string, out io.Writer) error {
	key, err := snapshot.ParseSigningKey(s.Key.Reveal())
	if err == nil && key.IsZero() {
		err = errors.New("SNAPSHOT_SIGNING_KEY is not set")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, key.Public())
	return err
}

func rotateKeys(ctx context.Context, s *operator, _ []string, out io.Writer) error {
	n, err := s.RotateKeys(ctx)
	fmt.Fprintf(out, "%d secrets were encrypted again\n", n)
	return err
}

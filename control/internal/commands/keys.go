package commands

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// KeysArgs are the arguments of Keys, for its help.
const KeysArgs = "[-legacy]"

// Keys implements the command keys on the database.
func (o *Database) Keys(ctx context.Context, args []string, out io.Writer) error {
	return o.with(ctx, func(st *store.Store) error { return Keys(ctx, args, st, out) })
}

// Keys implements the command keys: it lists the API keys of all users, newest first, with their limits and last uses.
// With -legacy it lists only keys without a checksum.
func Keys(ctx context.Context, args []string, st *store.Store, out io.Writer) error {
	flags := flag.NewFlagSet("keys", flag.ContinueOnError)
	flags.SetOutput(out)
	legacy := flags.Bool("legacy", false, "list only keys that a release without checksums has created")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	list, err := st.AllKeys(ctx, *legacy)
	if err != nil {
		return fmt.Errorf("list API keys: %w", err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tFORM\tUSER\tWORKSPACE\tCREATED\tLAST USED\tFROM\tEXPIRES\tSCOPES\tALLOWED\tNAME")
	old := 0
	for i := range list {
		k := &list[i]
		form, workspace := "-", k.WorkspaceSlug
		if !k.Checksummed {
			form = "LEGACY"
			old++
		}
		if k.WorkspaceID == k.UserID {
			workspace = "personal"
		}
		// A name can hold any character, so it is quoted and stands last.
		fmt.Fprintf(w, "%s…\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Prefix, form, printable(k.Email), workspace,
			minute(&k.CreatedAt, ""), minute(k.LastUsedAt, "never"), cmp.Or(k.LastUsedIP, "-"), minute(k.ExpiresAt, "never"),
			listed(k.Scopes),
			listed(k.AllowedIPs), strconv.QuoteToGraphic(k.Name))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d API keys, %d of them legacy\n", len(list), old)
	return err
}

// minute writes an instant in Unix milliseconds, in UTC; none stands for nil.
func minute(at *int64, none string) string {
	if at == nil {
		return none
	}
	return time.UnixMilli(*at).UTC().Format("2006-01-02T15:04Z")
}

// listed writes names that are separated by spaces.
func listed(names string) string { return cmp.Or(strings.ReplaceAll(names, " ", ","), "all") }

// printable escapes what would break a line or a column.
func printable(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return quoted[1 : len(quoted)-1]
}

// Package ascode has the commands plan, apply and export, which keep links in YAML files.
//
// The file says what links are to be. The server compares: a dry run of PUT /api/urls/bulk is the plan, and the same request without
// dryRun applies it. An owner marks its links in the same transaction as the change: the tag managed-by:OWNER tells whose a link is, and
// the last line of its notes has a digest of what the file said. So no state has to be kept beside the file, and a run that was killed
// leaves nothing that the next one has to repair.
package ascode

package store

import (
	"context"
	"slices"
)

// Why the service paused a webhook.
const (
	PausedMemberRemoved = "MEMBER_REMOVED"
	PausedMemberDemoted = "MEMBER_DEMOTED"
	PausedUserDeleted   = "USER_DELETED"
	PausedKeyDeleted    = "API_KEY_DELETED"
	PausedFailing       = "FAILING" // nothing was delivered for three days
)

// PauseReasons lists all reasons.
var PauseReasons = []string{PausedMemberRemoved, PausedMemberDemoted, PausedUserDeleted, PausedKeyDeleted, PausedFailing}

// Paused is a webhook that was active until now.
type Paused struct {
	ID, Name  string
	Workspace uint64
}

func scanPaused(row interface{ Scan(...any) error }) (p Paused, err error) {
	return p, row.Scan(&p.ID, &p.Name, &p.Workspace)
}

const pause = `UPDATE webhooks SET active = FALSE, pause_reason = ?, updated_at = ? WHERE active AND `

// PauseWebhooksOf pauses the webhooks that a user has made in a workspace, for one of PauseReasons.
func (tx *Tx) PauseWebhooksOf(ctx context.Context, workspace uint64, userID, reason string) ([]Paused, error) {
	return All(ctx, tx.Conn, scanPaused, pause+`workspace_num = ? AND user_id = ? RETURNING id, name, workspace_num`,
		reason, Now(), workspace, userID)
}

// PauseWebhooksMadeBy pauses the webhooks that were made with one of the API keys.
func (tx *Tx) PauseWebhooksMadeBy(ctx context.Context, keys []string) ([]Paused, error) {
	return All(ctx, tx.Conn, scanPaused, pause+`made_by_key IN (`+In(len(keys))+`) RETURNING id, name, workspace_num`,
		append([]any{PausedKeyDeleted, Now()}, Args(keys)...)...)
}

// HandOverWebhooks pauses the webhooks that a user has made in workspaces with another OWNER, and makes the OWNER who joined first
// their creator. Those of an administrator no longer get the events of all links. It returns the webhooks that were active.
func (tx *Tx) HandOverWebhooks(ctx context.Context, userID string) (paused []Paused, err error) {
	next := heir("webhooks")
	ids, err := All(ctx, tx.Conn, column[string], `SELECT id FROM webhooks WHERE user_id = ? AND EXISTS `+next+` ORDER BY id`+
		tx.forUpdate(),
		userID, userID)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(ids, batch) {
		which := `id IN (` + In(len(part)) + `)`
		list, err := All(ctx, tx.Conn, scanPaused, pause+which+` RETURNING id, name, workspace_num`,
			append([]any{PausedUserDeleted, Now()}, Args(part)...)...)
		if err != nil {
			return nil, err
		}
		paused = append(paused, list...)
		if _, err := tx.Exec(ctx, `UPDATE webhooks SET user_id = `+next+`, every_link = FALSE WHERE `+which,
			append([]any{userID}, Args(part)...)...); err != nil {
			return nil, err
		}
	}
	return paused, nil
}

// RevokeInvitationsMadeBy revokes the pending invitations that were made with one of the API keys.
func (tx *Tx) RevokeInvitationsMadeBy(ctx context.Context, keys []string) ([]Invitation, error) {
	which := `state = 'PENDING' AND made_by_key IN (` + In(len(keys)) + `)`
	list, err := All(ctx, tx.Conn, scanInvitation, invitationRows+`i.id IN (SELECT id FROM invitations WHERE `+which+`) ORDER BY i.id`,
		Args(keys)...)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `UPDATE invitations SET state = 'REVOKED' WHERE `+which, Args(keys)...)
	return list, err
}

// UsersMadeBy locks and lists the active users who were made with one of the API keys, except one.
func (tx *Tx) UsersMadeBy(ctx context.Context, keys []string, except string) ([]User, error) {
	return All(ctx, tx.Conn, scanUser, `SELECT `+userColumns+` FROM users u
		WHERE u.active AND u.id <> ? AND u.made_by_key IN (`+In(len(keys))+`) ORDER BY u.num`+tx.forUpdate(),
		append([]any{except}, Args(keys)...)...)
}

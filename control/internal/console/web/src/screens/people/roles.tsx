import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Choice } from '../../ui/choice';

export type User = Schema<'User'>;
export type Role = User['role'];

export const titleOf = (one: User): string => one.name || one.email;

export const nameOfRole = (role: Role): string => t(`user.role.${role}`);

/** Everything that counts as a second factor of the user. */
export function factorsOf({ twoFactorEnabled, hasPasskeys }: User): string {
  const factors = [twoFactorEnabled && t('user.app'), hasPasskeys && t('user.passkey')].filter(Boolean);
  return factors.join(', ') || '–';
}

export function Status({ of: one }: { of: User }) {
  return <span class={one.isActive ? 'badge good' : 'badge'}>{t(`user.status.${one.status}`)}</span>;
}

interface RolesProps {
  value: Role;
  onValue: (role: Role) => void;
  problem: string | undefined;
}

/** The choice of a role in the system, with what it can do. */
export function Roles(props: RolesProps) {
  return (
    <Choice
      label={t('members.role')}
      name="role"
      options={(['USER', 'ADMIN'] as const).map((one) => [one, nameOfRole(one), t(`user.role.${one}.hint`)] as const)}
      {...props}
    />
  );
}

/** A password that nobody can guess. Its 120 bits are enough without other characters than those of base64. */
export function newPassword(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(15))));
}

/** When the user signed in last, as the audit log knows; null: never. The log also has attempts with a wrong second factor. */
export async function lastSignIn(userId: string, signal: AbortSignal): Promise<string | null> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { userId, action: 'USER_LOGIN', page, pageSize: 100 };
    const { data, totalPages } = await api.get('/api/audit-logs', { query, signal, within: '' });
    const done = data.find((one) => (one.metadata as { success?: boolean } | null)?.success !== false);
    if (done) return done.createdAt;
    pages = totalPages;
  }
  return null;
}

import type { Schema } from '../../api/client';
import { may } from '../../session';
import { t } from '../../text';
import { Choice } from '../../ui/choice';

export type Role = Schema<'Member'>['role'];

/** The roles, from the least to the most rights. */
const roles: readonly Role[] = ['VIEWER', 'EDITOR', 'ADMIN', 'OWNER'];

export const nameOfRole = (role: Role): string => t(`role.${role}`);

interface RolesProps {
  value: Role;
  onValue: (role: Role) => void;
  problem: string | undefined;
}

/** The choice of a role with what each permits. Only owners make owners. */
export function Roles(props: RolesProps) {
  return (
    <Choice
      label={t('members.role')}
      name="role"
      options={roles
        .filter((one) => one !== 'OWNER' || may('OWNER'))
        .map((one) => [one, nameOfRole(one), t(`role.${one}.hint`)] as const)}
      {...props}
    />
  );
}

import { t } from '../../text';

/** What keys can be limited to. */
export const scopes = [
  'links:read',
  'links:write',
  'analytics:read',
  'conversions:write',
  'webhooks',
  'domains',
  'members',
] as const;

type Scope = (typeof scopes)[number];

/** The name of a scope for people; the scope itself if this console does not know it. */
export function nameOfScope(scope: string): string {
  return (scopes as readonly string[]).includes(scope) ? t(`keys.scope.${scope as Scope}`) : scope;
}

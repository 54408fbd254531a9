import { importsOf, type Sources, serverCode, withoutComments } from './sources.ts'

/**
 * Files, and folders, that may read every tenant's rows, because they serve all tenants at once: platform/ opens the
 * databases, journal/ writes the rows of all tenants together, and access/ finds a caller's tenant by a key, a session or
 * a person, who may be in several. agents/triggers/append.ts and computed/checks.ts add to the statement of a flush.
 */
const UNSCOPED = [
  'platform',
  'journal',
  'webhooks/queue',
  'conversations/mailbox',
  'agents/triggers/append.ts',
  'computed/checks.ts',
  'access/accept-invitation.ts',
  'access/accounts.ts',
  'access/api-key-lookup.ts',
  'access/closed-tenants.ts',
  'access/domains.ts',
  'access/mail-limits.ts',
  'access/members.ts',
  'access/networks.ts',
  'access/oauth/authorization-request.ts',
  'access/oauth/clients.ts',
  'access/oauth/consent.ts',
  'access/oauth/grant-lookup.ts',
  'access/oauth/grants.ts',
  'access/password-reset.ts',
  'access/service-secrets.ts',
  'access/sessions.ts',
  'access/setup.ts',
  'access/sign-in/me.ts',
  'access/tenants.ts',
  'access/used-codes.ts',
  'access/users.ts',
  'assembly/engines.ts',
  'cli/session.ts',
  'closing',
  'erasure/erase-events.ts',
  'hooks/tokens.ts',
  'operations/idempotency.ts',
  'reports/share-links.ts',
  'sites/problems/record.ts',
  'sources/usage.ts',
  'sources/write-keys.ts',
]

/** Only listed modules may use the unrestricted database; all others reach data through the tenant's handle. */
export function unscopedModules(sources: Sources, listed: readonly string[] = UNSCOPED): string[] {
  const needed = new Set<string>()
  const problems = serverCode(sources).flatMap(([file, text]) => {
    if (!seesAllTenants(file, text)) return []
    const module = listed.find((each) => `${file}/`.startsWith(`${each}/`))
    if (module !== undefined) needed.add(module)
    return module === undefined ? [`${file} sees all tenants: reach data through the tenant's handle`] : []
  })
  const stale = listed.filter((module) => !needed.has(module))
  return [...problems, ...stale.map((module) => `${module} no longer sees all tenants: remove it from UNSCOPED`)]
}

/** Some files need the types of placeholders and tables, which give no access. */
function seesAllTenants(file: string, text: string): boolean {
  const imports = importsOf(file, text).some((imported) =>
    /(postgres\/(database|connect)|clickhouse\/connect(ions)?)\.ts$/.test(imported),
  )
  const onlyTypes =
    [...text.matchAll(/import (type )?.*(?:database|connect)\.ts'/g)].every(([, type]) => type !== undefined) &&
    !/\bDatabase\b/.test(text)
  return (imports && !onlyTypes) || /\bunrestricted\b/.test(withoutComments(text))
}

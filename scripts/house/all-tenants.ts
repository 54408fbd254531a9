import { importsOf, type Sources, serverCode, withoutComments } from './sources.ts'

/** Modules that may read every tenant's rows, because they serve all tenants at once. */
const UNSCOPED = [
  'platform',
  'access',
  'journal',
  'operations/idempotency.ts',
  'webhooks/queue',
  'erasure/erase-events.ts',
  'providers/retention.ts',
  'conversations/mailbox',
  'identification/retention.ts',
  'identification/erase.ts',
  'sites/problems/record.ts',
  'sources/usage.ts',
  'sources/write-keys.ts',
  'hooks/tokens.ts',
  'hooks/workers.ts',
  'contacts/visitors/erase.ts',
  'cli',
  'assembly',
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

import { dueChecks, endChecks, tenantsWithChecks } from '../companies/changes.ts'
import { usesContactCount } from '../conditions/language.ts'
import { contactsOfCompanies } from '../contacts/of-companies.ts'
import { every } from '../platform/every.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import { queueChecks } from './check-queue.ts'
import type { WatchDependencies } from './checks.ts'
import { COMPANIES_AT_ONCE } from './company-events.ts'
import { correctCompanies, lockCompanySegments } from './evaluate-companies.ts'

const EVERY_MS = 500
const TENANTS_AT_ONCE = 100
/** A company with many changes has many rows. */
const ROWS_AT_ONCE = 1_000
/** Delay after a failure, so that a database that is down is not queried twice a second. */
const PAUSE_MS = 3_000

/**
 * Starts the checks of companies: any process checks those that changed, got or lost a contact, or have a contact with new
 * events, and writes their memberships.
 */
export function startCompanyChecks({ stores, definitions, clock, log }: WatchDependencies): { stop(): Promise<void> } {
  const paused = new Map<string, number>()
  let resumeAt = 0

  async function checkTenants(): Promise<void> {
    for (const [tenantId, until] of paused) if (until <= Date.now()) paused.delete(tenantId)
    for (const tenantId of await tenantsWithChecks(stores, [...paused.keys()], TENANTS_AT_ONCE)) {
      try {
        while (await checkSome(openTenant(stores, tenantId)));
      } catch (error) {
        // A problem with one tenant's data must not delay the others.
        paused.set(tenantId, Date.now() + PAUSE_MS)
        log.warn({ err: error, tenant_id: tenantId }, 'segments of companies could not be updated; retrying shortly')
      }
    }
  }

  /** @returns whether more may be due. */
  async function checkSome(tenant: Tenant): Promise<boolean> {
    return tenant.transaction(async (tx) => {
      const { contacts, companies } = await definitions.of(tx)
      // Its holder alone takes rows, and reads what changed before them.
      await lockCompanySegments(tx)
      const due = await dueChecks(tx, ROWS_AT_ONCE)
      if (due.length === 0) return false
      const companyIds = [...new Set(due.map(({ company_id }) => company_id))].slice(0, COMPANIES_AT_ONCE)
      await correctCompanies(tx, companies, companyIds, clock())
      if (contacts.some(({ filter }) => usesContactCount(filter))) {
        await queueChecks(tx, await contactsOfCompanies(tx, companyIds))
      }
      const chosen = new Set(companyIds)
      const done = due.flatMap(({ check_id, company_id }) => (chosen.has(company_id) ? check_id : []))
      await endChecks(tx, done)
      return due.length === ROWS_AT_ONCE || done.length < due.length
    })
  }

  const working = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      await checkTenants()
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'segments of companies could not be updated; retrying shortly')
    }
  })
  return { stop: () => working.stop() }
}

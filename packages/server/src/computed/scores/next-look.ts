import { isDeepStrictEqual } from 'node:util'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { evaluateRules, type RulesMet } from './evaluate.ts'
import type { Scoring } from './score.ts'

/** How far ahead the rules are asked: a score must follow within 10 seconds. */
const AHEAD_MS = [DAY_MS, 2 * HOUR_MS, 10 * MINUTE_MS, MINUTE_MS, 5_000]

/**
 * When to look at records again, because time alone may change which rules match. The rules are asked as of later times, so
 * that no second code has to know when a condition changes: what is the same in a day is looked at in a day, what is not is
 * asked for two hours ahead, and so on.
 * @param met which rules match now
 * @returns nothing for a scoring that does not depend on time.
 */
export async function nextLooks(
  tenant: Tenant,
  scoring: Scoring,
  met: ReadonlyMap<string, RulesMet>,
  now: Date,
): Promise<Map<string, Date>> {
  const looks = new Map<string, Date>()
  if (!scoring.usesTime) return looks
  let open = [...met.keys()]
  for (const ahead of AHEAD_MS) {
    if (open.length === 0) break
    const at = new Date(now.getTime() + ahead)
    // Those that change before the nearest of these times are looked at then.
    for (const id of open) looks.set(id, at)
    const later = await evaluateRules(tenant, scoring, open, at)
    open = open.filter((id) => !isDeepStrictEqual(later.get(id), met.get(id)))
  }
  return looks
}

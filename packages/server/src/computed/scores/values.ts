import type { Tenant } from '../../platform/tenant.ts'
import type { Evaluated } from '../evaluate.ts'
import { evaluateRules, totalsOf } from './evaluate.ts'
import { nextLooks } from './next-look.ts'
import type { Scoring } from './score.ts'

/** The scores of some records, and when to look at each again. A record that is gone has none. */
export async function evaluateScores(
  tenant: Tenant,
  scoring: Scoring,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, Evaluated>> {
  const met = await evaluateRules(tenant, scoring, ids, now)
  const looks = await nextLooks(tenant, scoring, met, now)
  return new Map(
    [...met].map(([id, own]) => [id, { values: totalsOf(scoring.scores, own), changesAt: looks.get(id) ?? null }]),
  )
}

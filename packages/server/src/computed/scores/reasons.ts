import { describeFilter } from '../../conditions/describe.ts'
import { segmentsIn } from '../../conditions/language.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty } from '../../contacts/property-catalogue.ts'
import type { ContactScores } from '../../contacts/scores.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { knownSegments } from '../../segments/segments.ts'
import { readComputed } from '../definitions.ts'
import { evaluateRules, matchingRules } from './evaluate.ts'

const LABELS = new Map(
  Object.entries<KnownProperty>({ ...COMPANY_PROPERTIES, ...CONTACT_PROPERTIES }).map(([key, { label }]) => [
    key,
    label,
  ]),
)

/** The scores of some contacts as of now, each with the rules that match. A contact that is gone has none. */
export async function scoresOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
  now: Date,
): Promise<Map<string, ContactScores>> {
  const { contacts: scoring } = (await readComputed(tenant)).scorings
  const { scores } = scoring
  if (scores.length === 0) return new Map()
  const met = await evaluateRules(tenant, scoring, contactIds, now)
  const ids = scores.flatMap(({ rules }) => rules.flatMap(({ stored }) => segmentsIn(stored)))
  const segments = await knownSegments(tenant, [...new Set(ids)])
  const names = { labels: LABELS, segments: new Map([...segments].map(([id, { name }]) => [id, name])) }
  return new Map(
    [...met].map(([contactId, own]) => [
      contactId,
      Object.fromEntries(
        matchingRules(scores, own).map(({ name, rules }) => [
          name,
          {
            value: rules.reduce((sum, { points }) => sum + points, 0),
            reasons: rules.map(({ stored, points }) => ({ points, text: describeFilter(stored, names) })),
          },
        ]),
      ),
    ]),
  )
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Contents } from '../writing/contact-set.ts'
import type { SourceKind, SourceRecord } from '../writing/source-records.ts'
import { contentWithoutMerge, mergedContent, revived } from './merge-content.ts'

const SOURCES = ['manual', 'form', 'tracker', 'identify', 'crm', 'enrichment'] as const
const KEYS = ['city', 'phone', 'constructor', 'unsubscribed', 'do_not_contact', 'first_landing_page', 'first_referrer']

const moment = fc.integer({ min: 1, max: 60 }).map((minute) => new Date(Date.UTC(2026, 0, 1, 0, minute)))
const value = fc.oneof(fc.boolean(), fc.constantFrom('', 'no', 'x', 'y'), fc.integer({ min: 0, max: 3 }))
const field = fc.record({ value: fc.option(value, { freq: 5 }), updated_at: moment.map((at) => at.toISOString()) })

const record = (source: SourceKind): fc.Arbitrary<SourceRecord> =>
  fc.record({
    source: fc.constant(source),
    kind: fc.constant(source),
    external_id: fc.option(fc.constantFrom('1', '2')),
    fields: fc.dictionary(fc.constantFrom(...KEYS), field),
    raw: fc.option(fc.constantFrom({ a: 1 }, { b: 2 })),
    raw_bytes: fc.constant(8),
    first_seen_at: moment,
    updated_at: moment,
    synced_at: fc.option(moment),
    enriched_at: fc.option(moment),
  })

/** A contact whose properties all come from its sources. */
const content: fc.Arbitrary<Contents> = fc
  .record({
    records: fc.subarray([...SOURCES]).chain((sources) => fc.tuple(...sources.map(record))),
    email: fc.option(fc.constantFrom('a@example.com', 'b@example.com')),
    external_id: fc.option(fc.constantFrom('u1', 'u2')),
    company_id: fc.option(fc.constantFrom('c1', 'c2')),
    first_seen_at: moment,
    enriched_at: fc.option(moment),
  })
  .map(({ records, ...row }) => {
    const entries = records.flatMap(({ source, fields }) =>
      Object.entries(fields).flatMap(([key, { value, updated_at }]) =>
        value === null ? [] : [{ key, value, entry: { source, updated_at } }],
      ),
    )
    return {
      records,
      row: {
        ...row,
        contact_id: 'contact',
        external_id_provisional: false,
        properties: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
        properties_provenance: Object.fromEntries(entries.map(({ key, entry }) => [key, entry])),
        creation_source: 'manual',
        created_at: row.first_seen_at,
        updated_at: row.first_seen_at,
      },
    }
  })

const NOW = new Date(Date.UTC(2026, 0, 2))
const stored = (of: Contents) => revived(JSON.parse(JSON.stringify(of)))

test('undoing a merge restores the survivor, for any two contacts', () => {
  fc.assert(
    fc.property(content, content, (survivor, other) => {
      const before = stored(survivor)
      const after = stored(mergedContent(survivor, other, NOW))
      const undone = contentWithoutMerge(after, before, after, before.row.updated_at)
      const inOrder = ({ row, records }: Contents) => ({
        row,
        records: [...records].sort((a, b) => (a.source < b.source ? -1 : 1)),
      })
      expect(inOrder(undone)).toEqual(inOrder(before))
    }),
    { numRuns: 2_000 },
  )
})

test('writes between the merge and the unmerge remain, and nothing else differs', () => {
  fc.assert(
    fc.property(content, content, fc.constantFrom(...KEYS), (survivor, other, key) => {
      const before = stored(survivor)
      const after = stored(mergedContent(survivor, other, NOW))
      const current = structuredClone(after)
      Object.assign(current.row.properties as object, { [key]: 'written since' })
      const undone = contentWithoutMerge(current, before, after, before.row.updated_at)
      expect(undone.row.properties).toEqual({ ...(before.row.properties as object), [key]: 'written since' })
    }),
    { numRuns: 2_000 },
  )
})

test('the survivor is unsubscribed if either contact is, and has only values of the two', () => {
  fc.assert(
    fc.property(content, content, (survivor, other) => {
      const { properties } = mergedContent(survivor, other, NOW).row as { properties: Record<string, unknown> }
      const [ours, theirs] = [survivor, other].map(({ row }) => row.properties as Record<string, unknown>)
      for (const key of ['unsubscribed', 'do_not_contact']) {
        if ([ours?.[key], theirs?.[key]].some((value) => value === true || value === 'x')) {
          expect([false, '', 'no', 0]).not.toContain(properties[key])
        }
      }
      for (const key of Object.keys(properties)) expect([ours?.[key], theirs?.[key]]).toContainEqual(properties[key])
    }),
    { numRuns: 2_000 },
  )
})

test.each<[string, string | boolean, string | boolean]>([
  ['hs_email_optout', 'true', 'false'],
  ['accepts_marketing', false, true],
  ['mailchimp_status', 'unsubscribed', 'subscribed'],
  ['doNotContact', '1', '0'],
])('a merge keeps the %s that stops outreach, whichever contact says it', (key, stops, allows) => {
  const contactWith = (said: string | boolean): Contents => {
    const [{ row, records }] = fc.sample(content, { numRuns: 1, seed: 1 }) as [Contents]
    return { row: { ...row, properties: { [key]: said }, properties_provenance: {} }, records }
  }
  for (const merged of [
    mergedContent(contactWith(stops), contactWith(allows), NOW),
    mergedContent(contactWith(allows), contactWith(stops), NOW),
  ]) {
    expect(merged.row.properties).toEqual({ [key]: stops })
  }
})

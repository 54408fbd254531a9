import Type from 'typebox'
import { consentOf, maySilence, ruleBrokenBy } from '../contacts/consent.ts'
import type { Properties } from '../contacts/properties.ts'
import { WORD } from '../platform/personal.ts'
import type { RecordResult } from '../sources/apply-records.ts'
import { recordIn } from '../sources/incoming-record.ts'
import type { Column } from './columns.ts'
import type { Row } from './staging.ts'

/** How many contacts an import stops from getting mail, or lets get mail again. */
export const ImportConsent = Type.Object(
  {
    silenced: Type.Integer({
      description: 'Contacts that get no mail after the import: they did before it, or are new.',
    }),
    still_silent: Type.Integer({
      description: 'Contacts of the file that get no mail before or after the import.',
    }),
    released: Type.Integer({
      description: 'Contacts that get mail again after the import, because the file contradicts an earlier opt-out.',
    }),
    columns: Type.Array(
      Type.Object({
        column: Type.Integer({ description: 'Index of the column, from 0.' }),
        property: Type.String(WORD),
        contacts: Type.Integer({ description: 'The contacts that opt out in this column, or whose mail bounces.' }),
      }),
      { description: 'The columns that say so.' },
    ),
  },
  { title: 'ImportConsent' },
)
export type ImportConsent = Type.Static<typeof ImportConsent>

/** The sum of what parts of an import did. */
export function sumOfConsent(parts: readonly ImportConsent[]): ImportConsent {
  const sum: ImportConsent = { silenced: 0, still_silent: 0, released: 0, columns: [] }
  for (const { silenced, still_silent, released, columns } of parts) {
    sum.silenced += silenced
    sum.still_silent += still_silent
    sum.released += released
    for (const each of columns) {
      const known = sum.columns.find(({ column }) => column === each.column)
      if (known) known.contacts += each.contacts
      else sum.columns.push({ ...each })
    }
  }
  sum.columns.sort((one, other) => one.column - other.column)
  return sum
}

/** A contact of the file, before and after some of its rows. */
interface Changed {
  before: Properties
  after: Properties
}

/** Counts the contacts that opt out, as their rows are computed or written: all rows of a contact at once. */
export function createConsentCount(columns: readonly Column[]): {
  add(rows: readonly Row[], results: readonly RecordResult[], changed: ReadonlyMap<string, Changed>): void
  counts: ImportConsent
} {
  const watched = columns.flatMap((each, column) => {
    if (each.target !== 'property' || !maySilence(each.property)) return []
    return { column, property: each.property, contacts: 0 }
  })
  const counts: ImportConsent = { silenced: 0, still_silent: 0, released: 0, columns: [] }
  return {
    counts,
    add: (rows, results, changed) => {
      for (const { before, after } of changed.values()) {
        const [wasSilent, isSilent] = [consentOf(before) !== null, consentOf(after) !== null]
        if (isSilent) counts[wasSilent ? 'still_silent' : 'silenced']++
        else if (wasSilent) counts.released++
      }
      for (const each of watched) {
        const contacts = new Set<string>()
        for (const [index, { record }] of rows.entries()) {
          const result = results[index]
          const said = recordIn(record)?.properties[each.property]
          if (result?.contactId === undefined || said === undefined) continue
          if (ruleBrokenBy(each.property, said) !== null) contacts.add(result.contactId)
        }
        each.contacts += contacts.size
      }
      counts.columns = watched.filter(({ contacts }) => contacts > 0)
    },
  }
}

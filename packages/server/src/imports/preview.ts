import Type from 'typebox'
import { propertiesOf } from '../contacts/contact-row.ts'
import type { Properties } from '../contacts/properties.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { conflict } from '../platform/errors.ts'
import { ContactId, Nullable } from '../platform/http/responses.ts'
import { personal, valueNamedBy, WORD } from '../platform/personal.ts'
import { pauseRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type PlannedRecord, planRecords } from '../sources/write-records.ts'
import { type Counts, READING_SHARE } from './import-object.ts'
import { requireImport } from './imports.ts'
import { shortened } from './inspect-file.ts'
import { rowSentence } from './row-problems.ts'
import { createConsentCount, type ImportConsent } from './silenced.ts'
import { forEachChunk, type MappedFile, SOURCE, withStagedRows } from './stage-file.ts'
import type { Task } from './task.ts'

const ROWS_SHOWN = 20
const CHANGES_SHOWN = 50

/** What a row of the file would do. */
export const PreviewedRow = Type.Object(
  {
    row: Type.Integer({ description: '1 is the row below the header.' }),
    status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
    contact_id: Nullable(ContactId, 'null for a contact that would be created, and for a failed row.'),
    email: Nullable(Type.String(personal('email'))),
    changes: Type.Array(
      Type.Object({
        property: Type.String(WORD),
        before: Nullable(Type.String(valueNamedBy('property'))),
        after: Nullable(Type.String(valueNamedBy('property'))),
      }),
      { maxItems: CHANGES_SHOWN },
    ),
    // The message has the cell that is wrong.
    error: Nullable(
      Type.Object(
        { code: Type.String(WORD), message: Type.String(personal('free-text')) },
        { title: 'PreviewedRowError' },
      ),
    ),
  },
  { title: 'PreviewedRow' },
)
export type PreviewedRow = Type.Static<typeof PreviewedRow>

interface Preview {
  counts: Counts
  consent: ImportConsent
  rows: PreviewedRow[]
}

/** Computes what the rows would do, with the code that writes them, and stores the counts and the first rows. */
export async function previewRows(
  task: Task,
  file: MappedFile,
  { clock, findComputedNames }: Pick<WriteServices, 'clock' | 'findComputedNames'>,
): Promise<void> {
  const { tenant } = task
  const { contacts: computed } = await findComputedNames(tenant)
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  const shown: PreviewedRow[] = []
  const consent = createConsentCount(file.columns)
  const { rowCount, warnings } = await withStagedRows(tenant, file, async (staged, chunks) => {
    let done = 0
    await forEachChunk(chunks, async (rows) => {
      const records = rows.map(({ record }) => record)
      const planned = await tenant.heavyRead(() => planRecords(tenant, SOURCE, records, computed, clock()))
      const results = planned.map(({ result }) => result)
      for (const { status } of results) counts[status]++
      consent.add(rows, results, changesByContact(planned))
      for (const [index, { row }] of rows.entries()) {
        const plan = planned[index]
        if (row <= ROWS_SHOWN && plan) shown.push(toPreviewed(row, plan))
      }
      done += rows.length
      await task.setProgress(READING_SHARE + ((1 - READING_SHARE) * done) / staged.rowCount)
    })
    return staged
  })
  const rows = shown.sort((a, b) => a.row - b.row)
  const preview: Preview = { counts, consent: consent.counts, rows }
  const read = { row_count: rowCount, warnings: JSON.stringify(warnings) }
  // For a person, who starts it.
  await pauseRun(
    task.run,
    { seconds: null, waitingFor: 'previewed' },
    { ...read, progress: 1, preview: JSON.stringify(preview) },
  )
}

/** @throws ServiceError 404, 409 `import_not_previewed`. */
export async function readPreview(tenant: Tenant, importId: string): Promise<Preview> {
  const { preview } = await requireImport(tenant, importId)
  if (preview === null) {
    throw conflict(
      'import_not_previewed',
      'There is no preview of this import. Request one, and wait until it is ready.',
    )
  }
  return preview as unknown as Preview
}

/** Each contact before its first row of a chunk, and after its last one. */
function changesByContact(planned: readonly PlannedRecord[]) {
  const changes = new Map<string, { before: Properties; after: Properties }>()
  for (const { contact } of planned) {
    if (contact === null) continue
    const { contact_id } = contact.after
    const before = changes.get(contact_id)?.before ?? (contact.before.properties as Properties)
    changes.set(contact_id, { before, after: contact.after.properties as Properties })
  }
  return changes
}

function toPreviewed(row: number, { result, contact }: PlannedRecord): PreviewedRow {
  if (result.status === 'failed') {
    const error = { code: result.error.code, message: rowSentence(result.error.message) }
    return { row, status: 'failed', contact_id: null, email: null, changes: [], error }
  }
  const isNew = result.status === 'created'
  return {
    row,
    status: result.status,
    contact_id: isNew ? null : result.contactId,
    email: contact?.after.email ?? null,
    changes: contact === null ? [] : changesOf(contact),
    error: null,
  }
}

function changesOf({ before, after }: NonNullable<PlannedRecord['contact']>): PreviewedRow['changes'] {
  const [from, to] = [propertiesOf(before), propertiesOf(after)]
  const keys = Object.keys({ ...from, ...to }).filter((key) => JSON.stringify(from[key]) !== JSON.stringify(to[key]))
  return keys.slice(0, CHANGES_SHOWN).map((property) => ({
    property,
    before: Object.hasOwn(from, property) ? shown(from[property]) : null,
    after: Object.hasOwn(to, property) ? shown(to[property]) : null,
  }))
}

function shown(value: unknown): string {
  return shortened(Array.isArray(value) ? value.join('; ') : String(value))
}

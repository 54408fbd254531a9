import { type Actor, audit } from '../operations/audit.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { KEPT_DAYS } from './files.ts'
import { type Proposal, proposalFor } from './remembered-mapping.ts'
import { requireImportLimits, type Uploaded } from './upload.ts'

/** Stores the import of an uploaded file. @returns the mapping that it proposes. */
export async function insertImport(
  tx: Tenant,
  { actor, ...file }: Uploaded & { fileName: string; actor: Actor },
  now: Date,
): Promise<Proposal> {
  await requireImportLimits(tx)
  const { importId, fileName, sizeBytes, format, recognizedAs } = file
  const proposal = await proposalFor(tx, file)
  await tx.db
    .insertInto('imports')
    .values({
      import_id: importId,
      file_name: fileName,
      size_bytes: sizeBytes,
      encoding: format.encoding,
      delimiter: format.delimiter,
      header_line: format.headerLine,
      first_lines: JSON.stringify(file.firstLines),
      readings: JSON.stringify(file.readings),
      recognized_as: recognizedAs,
      columns: JSON.stringify(proposal.columns),
      mapping: JSON.stringify(proposal.mapping),
      remembered: proposal.remembered === null ? null : JSON.stringify(proposal.remembered),
      status: 'waiting',
      waiting_for: 'uploaded',
      created_by: JSON.stringify(actor),
      created_at: now,
      expires_at: new Date(now.getTime() + KEPT_DAYS * DAY_MS),
    })
    .execute()
  const details = { file_name: fileName, size_bytes: sizeBytes }
  await audit(tx, { actor, action: 'import.uploaded', subjectKind: 'import', subjectId: importId, details }, now)
  return proposal
}

import type { FormatName } from '../event-formats/formats.ts'
import { importEvents } from '../event-imports/import-events.ts'
import { describeWarnings } from '../event-imports/warnings.ts'
import { countRows } from '../journal/batches.ts'
import { ServiceError } from '../platform/errors.ts'
import { openPlacesLater } from '../platform/places.ts'
import { say } from '../platform/progress.ts'
import { existingTenant, type Values } from './command.ts'
import type { Session } from './session.ts'

/**
 * Imports a file of events. Ctrl+C ends it after the chunk under way, or while it waits for standard input; pressed twice,
 * at once.
 */
export async function runEventImport(session: Session, values: Values): Promise<Record<string, unknown>> {
  const tenantId = await existingTenant(session.stores, values)
  const file = String(values.file)
  const interruption = new AbortController()
  const interrupt = () => {
    interruption.abort()
    if (file === '-') process.stdin.destroy(new ServiceError(409, 'interrupted', 'Stopped. Nothing was imported.'))
  }
  process.once('SIGINT', interrupt)
  try {
    const dependencies = {
      ...session.writing(),
      groupCommit: session.groupCommit,
      placeOf: openPlacesLater(session.config.geoDatabase),
      journalRows: async () => (await countRows(session.stores.database)).waiting,
    }
    const summary = await importEvents(session.tenant(tenantId), dependencies, {
      file,
      format: values.format === undefined ? null : (values.format as FormatName),
      errorsFile:
        values.errors === undefined ? `${file === '-' ? 'events' : file}.errors.jsonl` : String(values.errors),
      again: values.again === true,
      interrupted: interruption.signal,
      onProgress: say,
    })
    for (const line of describeWarnings(summary.warnings)) console.error(`cdsctl: ${line}`)
    return { ...summary }
  } finally {
    process.off('SIGINT', interrupt)
  }
}

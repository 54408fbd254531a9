import type { WriteServices } from '../../contacts/writing/writer.ts'
import { ServiceError } from '../../platform/errors.ts'
import { doubling, NoProgress, type RunKind } from '../../platform/runs/kind.ts'
import { type RunWork, runWork } from '../../platform/runs/workers.ts'
import { enrichContacts } from './enrich-contacts.ts'
import { ENRICHMENT_ROWS } from './run-object.ts'
import type { MatchingServices } from './runs.ts'
import { undoRun } from './undo.ts'

const RUNS_AT_ONCE = 2
/** A run that fails this many times without changing a contact is given up. */
const ATTEMPTS_MAX = 10

export interface RunDependencies extends MatchingServices {
  writing: WriteServices
}

/** Enriches many contacts in the background, and undoes that. */
export function enrichmentRuns(dependencies: RunDependencies): RunWork {
  return runWork(enrichmentKind(dependencies), [{ atOnce: RUNS_AT_ONCE }])
}

function enrichmentKind(dependencies: RunDependencies): RunKind<'enrichment_runs'> {
  return {
    rows: ENRICHMENT_ROWS,
    step: (run, signal) =>
      run.row.task === 'undo' ? undoRun(run, dependencies.writing, signal) : enrichContacts(run, dependencies, signal),
    failure: (error) => {
      const cause = error instanceof NoProgress ? GIVEN_UP : error
      // A segment was deleted, or an event condition now matches too many contacts.
      const isFinal = cause === GIVEN_UP || (cause instanceof ServiceError && cause.status < 500)
      const shown = { error: (cause as Error).message, error_code: isFinal ? (cause as ServiceError).code : null }
      return { isFinal, shown }
    },
    failuresMax: ATTEMPTS_MAX - 1,
    pauseSeconds: doubling(2, 60),
  }
}

const GIVEN_UP = new ServiceError(
  500,
  'enrichment_given_up',
  `The run made no progress in ${ATTEMPTS_MAX} attempts. The service's log says why; start another one.`,
)

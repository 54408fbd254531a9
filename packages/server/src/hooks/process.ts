import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MalformedAddress } from '../sources/incoming-record.ts'
import { applyMapping } from './apply-mapping.ts'
import { type ClaimedBody, finishBody, type Outcome, releaseBody } from './bodies.ts'
import type { HookRow } from './hook-object.ts'
import type { Mapping } from './mapping.ts'
import { failedOutcome, NOTHING, type RecordServices, recordMapped, recordOptOuts } from './record.ts'

/** After this many attempts, an unexpected failure becomes the body's outcome. */
const ATTEMPTS_MAX = 5
/** The pause before the first retry. It doubles with each failed attempt. */
export const RETRY_PAUSE_SECONDS = 10
const RETRY_PAUSE_SECONDS_MAX = 600
/** The error of a body that could not be recorded for an unexpected reason. */
export const UNEXPECTED = { code: 'internal_error', message: 'An unexpected error occurred. It will be retried.' }

/**
 * Runs the mapping on a claimed body and stores the outcome.
 * @throws the error of an unavailable database, or an unexpected error. The body is then released unchanged.
 */
export async function processBody(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  body: ClaimedBody,
): Promise<Outcome> {
  const outcome = await outcomeOf(tenant, services, hook, body)
  await finishBody(tenant, body, outcome, services.clock())
  return outcome
}

/**
 * Does the same for a body that has just arrived, or that a process left unfinished. A failure is retried later.
 * @returns null if it did not finish. Then it stays pending, or has failed permanently.
 */
export async function tryBody(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  body: ClaimedBody,
): Promise<Outcome | null> {
  try {
    return await processBody(tenant, services, hook, body)
  } catch (error) {
    const isExpected = error instanceof ServiceError
    services.log.warn({ err: error, hook_id: hook.hook_id, body_id: body.bodyId }, 'a body of a hook was not recorded')
    try {
      if (!isExpected && body.attempts + 1 >= ATTEMPTS_MAX) {
        const message =
          'An unexpected error occurred. It is in the log of the service. Run the body again once the cause is fixed.'
        const outcome = failedOutcome(new ServiceError(500, 'internal_error', message))
        await finishBody(tenant, body, outcome, services.clock())
        return outcome
      }
      const pauseSeconds = Math.min(RETRY_PAUSE_SECONDS * 2 ** body.attempts, RETRY_PAUSE_SECONDS_MAX)
      const { code, message } = isExpected ? error : UNEXPECTED
      await releaseBody(tenant, body, { pauseSeconds, code, message })
    } catch (err) {
      // The claim expires on its own.
      services.log.warn({ err, body_id: body.bodyId }, 'a body of a hook could not be released')
    }
    return null
  }
}

async function outcomeOf(tenant: Tenant, services: RecordServices, hook: HookRow, body: ClaimedBody): Promise<Outcome> {
  const outcome = await recordedOutcome(tenant, services, hook, body)
  // The recorded event stays known, even if a later mapping gives another result.
  return outcome.event_key === null && body.eventKey !== null
    ? { ...outcome, event_key: body.eventKey, event_id: body.eventId }
    : outcome
}

async function recordedOutcome(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  body: ClaimedBody,
): Promise<Outcome> {
  try {
    const ignored = await services.findIgnoredIds(tenant)
    const mapped = applyMapping(hook.mapping as unknown as Mapping, JSON.parse(body.text), ignored)
    if ('skipped' in mapped) {
      const { code, message } = mapped.skipped
      return { ...NOTHING, state: 'skipped', error_code: code, error_message: message }
    }
    return await recordMapped(tenant, services, hook, body, mapped)
  } catch (error) {
    if (error instanceof MalformedAddress) await recordOptOuts(tenant, services, hook, body, error)
    if (error instanceof ServiceError && error.status < 500) return failedOutcome(error)
    throw error
  }
}

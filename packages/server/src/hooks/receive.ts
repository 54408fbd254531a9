import { validationError } from '../platform/errors.ts'
import { storableValue } from '../platform/http/body-parts.ts'
import { parseJsonBytes, textOf } from '../platform/http/read-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Outcome, pruneBodies, storeBody } from './bodies.ts'
import type { HookRow } from './hook-object.ts'
import { tryBody } from './process.ts'
import type { RecordServices } from './record.ts'

const FORM = 'application/x-www-form-urlencoded'
const FORM_FIELDS_MAX = 1_000

/**
 * Keeps a body that has arrived for a hook, and records it. Once it is kept, no failure reaches the sender, which would
 * send it again.
 * @returns its outcome; null if it will be recorded later.
 */
export async function receiveBody(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  { content, warnings }: Received,
): Promise<{ bodyId: string; outcome: Outcome | null }> {
  const body = await storeBody(tenant, hook.hook_id, JSON.stringify(content), services.clock(), warnings)
  const outcome = await tryBody(tenant, services, hook, body)
  await pruneBodies(tenant, hook.hook_id).catch((err: unknown) =>
    services.log.warn({ err, hook_id: hook.hook_id }, 'the oldest bodies of a hook could not be deleted'),
  )
  return { bodyId: body.bodyId, outcome }
}

/** A body without what cannot be stored. */
export interface Received {
  content: object
  /** What was left out or kept as text, and why. */
  warnings: string[]
}

/** A value that cannot be stored must not lose the others: the sender cannot correct what it sends. */
const ANY_BODY = { 'x-unstorable': 'left-out' } as const

/** The content of a body: JSON, or a form as an object. @throws ServiceError 400 `invalid_json` or `validation_error`. */
export function parseBody(bytes: Buffer, contentType: string | undefined): Received {
  const warnings: string[] = []
  const warn = (warning: string) => void warnings.push(warning)
  const isForm = contentType?.trim().toLowerCase().startsWith(FORM)
  const content = isForm
    ? storableValue(parseForm(textOf(bytes)), ANY_BODY, warn)
    : parseJsonBytes(bytes, ANY_BODY, warn)
  if (content !== null && typeof content === 'object') return { content, warnings }
  throw validationError([{ path: '', message: 'must be a JSON object or array, or a form' }])
}

/** Converts a form to an object. A name that occurs more than once gets a list. */
function parseForm(text: string): object {
  const fields = new Map<string, string | string[]>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > FORM_FIELDS_MAX) {
      throw validationError([{ path: '', message: `has more than ${FORM_FIELDS_MAX} fields` }])
    }
    const known = fields.get(name)
    fields.set(name, known === undefined ? value : [known, value].flat())
  }
  const form = Object.fromEntries(fields)
  if (count === 0) throw validationError([{ path: '', message: 'has no fields' }])
  return form
}

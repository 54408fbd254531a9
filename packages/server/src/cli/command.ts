import { listTenants, requireTenant } from '../access/tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Session } from './session.ts'

/** The options of a call, by their names. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export interface Option {
  type: 'string' | 'boolean'
  required?: boolean
  multiple?: boolean
  hint?: string
  description?: string
}

export interface Command {
  summary: string
  /** What the call names without an option; it arrives among the values in lower case. */
  argument?: 'FILE'
  options: Record<string, Option>
  /** A problem with the options other than a missing one; null for none. */
  check?(values: Values): string | null
  run(session: Session, values: Values, now: Date): Promise<Record<string, unknown>>
  /** What part of the work failed, and where to look; null for none. */
  failuresOf?(answer: Record<string, unknown>): string | null
}

/** The tenant of a command. Most services have one, which need not be named. */
export const tenant = {
  type: 'string',
  hint: 'TENANT_ID',
  description: 'required if there are several',
} as const
export const required = (hint: string) => ({ type: 'string', required: true, hint }) as const
export const optional = (hint: string) => ({ type: 'string', hint }) as const

/** The tenant that a call names, or the only one. @throws ServiceError 404; 400 if there are several */
export async function existingTenant({ database }: Session['stores'], { tenant: named }: Values): Promise<string> {
  if (named !== undefined) {
    await requireTenant(database, String(named))
    return String(named)
  }
  const { tenants, total } = await listTenants(database, { page: 1, limit: 1 })
  const [only] = tenants
  if (only && total === 1) return only.tenant_id
  const message = only
    ? `There are ${total} tenants: choose one with --tenant. cdsctl tenant list shows them.`
    : 'There is no tenant yet: cdsctl tenant create --name NAME creates one.'
  throw new ServiceError(400, 'invalid_option', message)
}

/** A whole number, or `fallback` where the option is missing. @throws ServiceError 400 */
export function numberOf(values: Values, name: string, fallback: number): number {
  const text = values[name]
  if (text === undefined) return fallback
  const value = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new ServiceError(400, 'invalid_option', `--${name} must be a whole number.`)
  return value
}

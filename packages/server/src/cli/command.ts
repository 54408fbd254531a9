import { requireTenant } from '../access/tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Session } from './session.ts'

/** The options of a call, by their names. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export interface Command {
  summary: string
  /** What the call names without an option; it arrives among the values in lower case. */
  argument?: 'FILE'
  options: Record<string, { type: 'string' | 'boolean'; required?: boolean; multiple?: boolean; hint?: string }>
  /** A problem with the options other than a missing one; null for none. */
  check?(values: Values): string | null
  run(session: Session, values: Values, now: Date): Promise<Record<string, unknown>>
  /** What part of the work failed, and where to look; null for none. */
  failuresOf?(answer: Record<string, unknown>): string | null
}

export const tenant = { type: 'string', required: true, hint: 'TENANT_ID' } as const
export const required = (hint: string) => ({ type: 'string', required: true, hint }) as const
export const optional = (hint: string) => ({ type: 'string', hint }) as const

/** The tenant that a call names. @throws ServiceError 404 */
export async function existingTenant({ database }: Session['stores'], values: Values): Promise<string> {
  const tenantId = String(values.tenant)
  await requireTenant(database, tenantId)
  return tenantId
}

/** A whole number, or `fallback` where the option is missing. @throws ServiceError 400 */
export function numberOf(values: Values, name: string, fallback: number): number {
  const text = values[name]
  if (text === undefined) return fallback
  const value = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new ServiceError(400, 'invalid_option', `--${name} must be a whole number.`)
  return value
}

import { listTenants, requireTenant } from '../access/tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Session } from './session.ts'

/** The option values of a call, by name. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export interface Option {
  type: 'string' | 'boolean'
  required?: boolean
  multiple?: boolean
  hint?: string
  description?: string
}

interface Described {
  summary: string
  /** Name of the positional argument; its value is stored under this name in lower case. */
  argument?: 'FILE'
  options: Record<string, Option>
  /** Validates the options. @returns the problem, or null. Missing options are reported elsewhere. */
  check?(values: Values): string | null
}

/** A command that does one thing, on the databases. */
export interface CommandOnce extends Described {
  /** The fields of its result, which `--json` prints; `name?` may be absent. */
  prints: readonly string[]
  /** Whether it creates the databases if there are none, as the service does. */
  createsData?: true
  run(session: Session, values: Values, now: Date): Promise<Record<string, unknown>>
  /** Describes a partial failure and where to find the details; null if there is none. */
  failuresOf?(result: Record<string, unknown>): string | null
}

/** A command that prints what happens on a service, which may be elsewhere, until the signal aborts. */
export interface CommandThatFollows extends Described {
  /** What it prints with `--json`, as a sentence. */
  prints: string
  follow(values: Values, signal: AbortSignal): Promise<void>
}

export type Command = CommandOnce | CommandThatFollows

/** The tenant of a command. Optional if the service has only one. */
export const tenant = {
  type: 'string',
  hint: 'TENANT_ID',
  description: 'required if there are several',
} as const
export const required = (hint: string) => ({ type: 'string', required: true, hint }) as const
export const optional = (hint: string) => ({ type: 'string', hint }) as const

/** The tenant given by --tenant, or the only one. @throws ServiceError 404; 400 if there are several or none. */
export async function existingTenant({ database }: Session['stores'], { tenant: named }: Values): Promise<string> {
  if (named !== undefined) {
    await requireTenant(database, String(named))
    return String(named)
  }
  const { tenants, total } = await listTenants(database, { page: 1, limit: 1 })
  const [only] = tenants
  if (only && total === 1) return only.tenant_id
  const message = only
    ? `There are ${total} tenants. Choose one with --tenant; cdsctl tenant list shows them.`
    : 'There is no tenant yet. Create one with cdsctl tenant create --name NAME.'
  throw new ServiceError(400, 'invalid_option', message)
}

/** A whole number, or `fallback` if the option is missing. @throws ServiceError 400 */
export function numberOf(values: Values, name: string, fallback: number): number {
  const text = values[name]
  if (text === undefined) return fallback
  const value = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new ServiceError(400, 'invalid_option', `--${name} must be a whole number.`)
  return value
}

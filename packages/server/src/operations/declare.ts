import type { Static, TObject, TProperties } from 'typebox'
import type { Scope } from '../access/scopes.ts'
import type { AuditEntry } from '../audit/log.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The dependencies of operations. */
export interface Context {
  /** If the operation has `audit`: of the transaction that also writes the audit entry. */
  tenant: Tenant
  now: Date
  secrets: SecretBox
  outbound: Pick<Outbound, 'check'>
}

/** An operation's input or output, by name. */
export type Values = Record<string, unknown>

/** An operation, from which its route and its command are derived. */
export interface Operation<Input = Values, Output = Values> {
  /** Its `operationId` in openapi.json, logs and metrics. */
  name: string
  /** Its heading in openapi.json. */
  tag: string
  http: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /v1/${string}`
  /** The words after `cdsctl`. */
  command: string
  /** The scope that a key, or a person's role, must have. */
  scope: Scope
  summary: string
  description?: string
  /** One flat object: the path parameters and the query parameters (GET, DELETE) or the body's fields. */
  input: TProperties
  /** The response without `status`. */
  output: TProperties
  /** The response's status code; 200 unless something is created. */
  status?: 201
  /** Overrides an option's name, hint or parser, by the input's name. */
  options?: Record<string, { name: string; hint: string; read(text: string): unknown }>
  /** Makes slow checks, such as DNS, before the transaction begins. */
  check?(context: Context, input: Input): Promise<void>
  run(context: Context, input: Input): Promise<Output>
  /** The audit entry; null if nothing changed. Every operation that changes something has it. */
  audit?(output: Output, input: Input): Omit<AuditEntry, 'actor'> | null
}

/** Declares an operation: the types of `run` follow from the schemas. */
export function operation<In extends TProperties, Out extends TProperties>(
  declared: Operation<Static<TObject<In>>, Static<TObject<Out>>> & { input: In; output: Out },
): Operation {
  return declared as unknown as Operation
}

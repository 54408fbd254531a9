import type { Static, TObject, TProperties } from 'typebox'
import type { AuditEntry } from '../audit/log.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Scope } from '../tenants/scopes.ts'

/** What operations work with. */
export interface Context {
  /** Of an operation with `audit`, `run` gets the handle of a transaction, in which the entry is written too. */
  tenant: Tenant
  now: Date
  secrets: SecretBox
  outbound: Pick<Outbound, 'check'>
}

/** What an operation takes, or what it answers: values by their names. */
export type Values = Record<string, unknown>

/** Something that can be done, as HTTP and the command line do it. */
export interface Operation<Input = Values, Output = Values> {
  /** Its `operationId` in the API's description, in logs and in metrics. */
  name: string
  /** Under which heading the API's description shows it. */
  tag: string
  http: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /v1/${string}`
  /** The words after `cdsctl`. */
  command: string
  /** Who may: a key with this scope, and a person whose role has it. */
  scope: Scope
  summary: string
  description?: string
  /** One flat object: the path's parameters, and what the query (GET and DELETE) or the body holds. */
  input: TProperties
  /** What the answer holds beside `status`. */
  output: TProperties
  /** The status of the answer; 200 unless something is created. */
  status?: 201
  /** Options of the command that are not an input's name and its JSON, by the input that they make. */
  options?: Record<string, { name: string; hint: string; read(text: string): unknown }>
  /** Checks what takes its time, such as DNS, before a transaction begins. */
  check?(context: Context, input: Input): Promise<void>
  run(context: Context, input: Input): Promise<Output>
  /** What the audit log says; null when nothing has changed. Every operation that changes something has it. */
  audit?(output: Output, input: Input): Omit<AuditEntry, 'actor'> | null
}

/** Declares an operation: what `run` is given and answers has the types of the schemas. */
export function operation<In extends TProperties, Out extends TProperties>(
  declared: Operation<Static<TObject<In>>, Static<TObject<Out>>> & { input: In; output: Out },
): Operation {
  return declared as unknown as Operation
}

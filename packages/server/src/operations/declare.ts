import Type, {
  type Static,
  type TLiteral,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from 'typebox'
import type { NamedError } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Actor, AuditEntry } from './audit.ts'
import type { Scope } from './scopes.ts'
import type { Tag } from './tags.ts'

/** What every operation gets; `operationsWith` adds the services that a feature needs. */
export interface Context {
  /** If the operation has an audit entry: of the transaction that also writes it. */
  tenant: Tenant
  now: Date
  actor: Actor
  /** The caller's scopes in the tenant. */
  scopes: ReadonlySet<string>
  /** Checks a scope that follows from the input. @throws ServiceError 403 naming the scope */
  requireScope(scope: Scope): void
  /** Adds to the response's `warnings`. */
  warn(text: string): void
  /**
   * Compares the caller's If-Match with the ETag of what is about to change; call it where the row is locked. Without
   * the header it does nothing. @throws ServiceError 412 `changed_meanwhile`
   */
  requireMatch(etag: string): void
  /** Whether the answer is no longer needed: the client disconnected, or the service is stopping. */
  isGivenUp(): boolean
}

/** An operation's input or output, by name. */
export type Values = Record<string, unknown>

export interface OptionSettings {
  /** The option's name, if it is not the field's in kebab case. */
  name?: string
  hint?: string
  read?(text: string): unknown
  /** Whether each field of the object has an option of its own, such as `--smtp-host`. */
  isDivided?: true
  /** Whether the list may come from a file instead: `--file FILE`. */
  mayBeFile?: true
}

/** An option of a command without a value. */
type OperatorFlag = TOptional<TLiteral<true>>

/** An operation, from which its route and its command are derived. `Output` has the fields of `forAudit` too. */
export interface Operation<Services = unknown, Input = Values, Output = Values> {
  /** Its `operationId` in openapi.json, logs and metrics. */
  name: string
  /** Its heading in openapi.json. */
  tag: Tag
  http: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`
  /** The words after `cdsctl`. */
  command: string
  /** The scope that a key, or a person's role, must have. `any-key`: `scopeOf` or `run` says which. */
  scope: Scope | 'any-key'
  /**
   * A scope besides `scope`, if that names one; it may depend on the query or the body. Like `scope`, it is checked before
   * validation, so `sent` may be invalid. openapi.json does not show it: `description` must.
   */
  scopeOf?: (sent: unknown) => Scope | null
  summary: string
  description?: string
  /** One flat object: the path parameters and the query parameters (GET, DELETE) or the body's fields. */
  input: TProperties
  /** Flags that only the command line has: whoever can run it has access to the databases. */
  operatorInput?: Record<string, OperatorFlag>
  /** The response without `status`, unless that is not `success`. */
  output: TProperties
  /**
   * What `run` returns for the audit entry alone, such as the name of a deleted record or the values before a change. It
   * is not part of the response.
   */
  forAudit?: TProperties
  /** The body for openapi.json, if one field decides which others it has. `run` then checks the fields. */
  body?: TSchema
  /** Whether a POST needs a body although each of its fields may be absent. */
  needsBody?: true
  /** The response's status code; 200 unless something is created (201) or continues in the background (202). */
  status?: 201 | 202
  /** The body's size limit, if not the service's. */
  bodyBytesMax?: number
  /** An input without its path parameters: shown in openapi.json, and sent by the tests that walk every operation. */
  example?: Values
  /** The errors that only some operations answer, as `409 webhook_paused`. */
  errors?: readonly NamedError[]
  /** How the command's options differ from the input, by its names. */
  options?: Record<string, OptionSettings>
  /** The `ETag` of the response, without quotes. */
  etag?: (output: Output) => string
  /** Whether `run` calls `requireMatch`, for openapi.json. */
  ifMatch?: true
  /** Makes slow checks, such as DNS look-ups, before the transaction starts. */
  check?: (context: Context & Services, input: Input) => Promise<void>
  run: (context: Context & Services, input: Input) => Promise<Output>
  /**
   * The audit entry; null if nothing changed. Absent where nothing changes, or where the change is recorded as an event.
   * `own`: the feature writes the entry. That is right only where `run` is not one transaction, because it calls another
   * host, waits for a result or repeats its transaction itself, and where the function that writes the entry has other
   * callers too. A detail that the response lacks is no reason: `forAudit` returns it.
   */
  audit?: ((output: Output, input: Input, context: Context) => Omit<AuditEntry, 'actor'> | null) | 'own'
}

/** The declaration of an operation, without its code. */
export type Declaration = Omit<Operation, 'check' | 'run' | 'audit' | 'forAudit'>

/** Declares operations that need `Services`: the types of `run` follow from the schemas. */
export function operationsWith<Services>() {
  return <
    In extends TProperties,
    Out extends TProperties,
    OperatorIn extends Record<string, OperatorFlag> = Record<never, never>,
    Facts extends TProperties = Record<never, never>,
  >(
    declared: Operation<
      Services,
      Static<TObject<In>> & Static<TObject<OperatorIn>>,
      Static<TObject<Out>> & Static<TObject<Facts>>
    > & {
      input: In
      operatorInput?: OperatorIn
      output: Out
      forAudit?: Facts
    },
  ) => declared as unknown as Operation<Services>
}

/** Declares an operation that needs nothing but the context. */
export const operation = operationsWith<unknown>()

/** An id in the path. A malformed one is unknown, so it answers 404 like any other; upper case is accepted. */
export function idInPath(noun: string) {
  return Type.String({ description: `The ${noun}.`, 'x-id-of': noun })
}

/**
 * A secret in an operation's input. Its option names a file or an environment variable, because every user of a machine
 * can see the arguments of its commands.
 */
export function secret(options: TStringOptions) {
  return Type.String({ ...options, format: 'password' })
}

/** Whether a field of an operation's input is an `idInPath`. */
export function isId(schema: TSchema | undefined): boolean {
  return schema !== undefined && 'x-id-of' in schema
}

/** The method and the path of an operation. */
export function routeOf({ http }: Pick<Operation, 'http'>): { method: string; url: string; hasBody: boolean } {
  const [method = '', url = ''] = http.split(' ')
  return { method, url, hasBody: method !== 'GET' && method !== 'DELETE' }
}

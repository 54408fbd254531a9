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
  /** Its handle, if `perform` starts a transaction: see `audit`, `isAtomic`. */
  tenant: Tenant
  now: Date
  actor: Actor
  /** The caller's scopes in the tenant. */
  scopes: ReadonlySet<string>
  /** Checks scopes that follow from the input. @throws ServiceError 403 naming those that the caller lacks */
  requireScope(...scopes: readonly Scope[]): void
  /** Adds to the response's `warnings`. */
  warn(text: string): void
  /**
   * Compares the caller's If-Match with the ETag of what is about to change; call it where the row is locked. Without
   * the header it does nothing. @throws ServiceError 412 `changed_meanwhile`
   */
  requireMatch(etag: string): void
  /** For operations that are not atomic. */
  memory: {
    /** Whether the request has an Idempotency-Key. Without one, nothing is remembered. */
    hasKey: boolean
    /**
     * Determines a value once: a retry gets the first request's value, even if that was interrupted. Call it once,
     * before the first change.
     */
    remember<T>(determine: () => Promise<T>): Promise<T>
  }
  /** Whether the response is no longer needed: the client disconnected, or the service is stopping. */
  isGivenUp(): boolean
  /** Set if personal values are hidden from the caller. Its searches then compare no part of one. */
  redaction?: Redaction | undefined
}

/** What is hidden from a caller. */
export interface Redaction {
  /** Whether the values of a property are hidden. */
  isHidden(entity: 'contacts' | 'companies', property: string): Promise<boolean>
  /** A secret of the tenant for an order that tells nothing about the values. */
  orderSecret: string
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

/**
 * Scopes that an operation needs besides `scope`. What creates a way to data needs the scopes of that data too: nobody
 * grants more than they have, neither with a key nor with a source, a hook or a webhook. Changing such a thing, turning
 * it on and replacing its secret count as creating it; turning it off and deleting it do not.
 */
export interface FurtherScopes<Services = unknown, Input = Values> {
  scopes: readonly Scope[]
  /** When they are needed, in words that end the sentence “Also needs the scope …”. Left out: always. */
  when?: string
  /**
   * Whether a request needs them. Like `scope`, it is checked before validation, so the query or body may be invalid.
   */
  ofSent?: (sent: unknown) => boolean
  /** Whether the record that a request names needs them; false for one that does not exist, which `run` reports. */
  ofRecord?: (context: Context & Services, input: Input) => Promise<boolean>
}

/** An operation, from which its route and its command are derived. `Output` has the fields of `forAudit` too. */
export interface Operation<Services = unknown, Input = Values, Output = Values, Checked = unknown> {
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
   * For `any-key`: the scope that follows from the query or the body. Like `scope`, it is checked before validation, so
   * `sent` may be invalid. openapi.json does not show it: `description` must.
   */
  scopeOf?: (sent: unknown) => Scope | null
  /** The scopes that it needs besides, always or depending on the request or the record. openapi.json shows them. */
  also?: readonly FurtherScopes<Services, Input>[]
  summary: string
  description?: string
  /** One flat object: the path parameters and the query parameters (GET, DELETE) or the body's fields. */
  input: TProperties
  /** Flags that only the command line has: whoever can run it has access to the databases. */
  operatorInput?: Record<string, OperatorFlag>
  /** The response without `status`, unless that is not `success`. */
  output: TProperties
  /**
   * What `run` returns for the audit entry or `after` alone, such as the name of a deleted record or the values before
   * a change. It is not part of the response.
   */
  forAudit?: TProperties
  /** The body for openapi.json, if one field decides which others it has. `run` then checks the fields. */
  body?: TSchema
  /** Whether owners may use it while their tenant is closed. */
  whileClosed?: true
  /** Whether a POST needs a body although each of its fields may be absent. */
  needsBody?: true
  /** The response's status code; 200 unless something is created (201) or continues in the background (202). */
  status?: 201 | 202
  /** The body's size limit, if not the service's. */
  bodyBytesMax?: number
  /** An input without its path parameters: shown in openapi.json, and sent by the tests that walk every operation. */
  example?: Values
  /** The errors that only some operations return, as `409 webhook_paused`. */
  errors?: readonly NamedError[]
  /** How the command's options differ from the input, by its names. */
  options?: Record<string, OptionSettings>
  /** The `ETag` of the response, without quotes. */
  etag?: (output: Output, services: Services & Pick<Context, 'tenant'>) => string | Promise<string>
  /** Whether `run` calls `requireMatch`. If not, a request with If-Match is rejected. */
  ifMatch?: true
  /**
   * What comes before the transaction: slow checks, such as DNS look-ups and calls to other hosts, and rows for which
   * others must not wait. It is harmless to repeat. `run` gets what it returns; declare it before `run`.
   */
  check?: (context: Context & Services, input: Input) => Promise<Checked>
  run: (context: Context & Services, input: Input, checked: Checked) => Promise<Output>
  /**
   * What follows the commit: a mail, or the wait for a result. It returns the fields of the response that this changes.
   * A retry does not run it again, even if the first request ended in it: it gets what `run` returned. Only after
   * an error below 500 does the request count as refused, and a retry runs as a whole.
   */
  after?: (context: Context & Services, output: Output, input: Input) => Promise<Partial<Output>>
  /**
   * The audit entry; null if nothing changed. Without one, an operation that changes something says why in `unaudited`.
   * `own`: the feature writes the entry. That is right only if `run` is not one transaction, or the function that
   * writes the entry has other callers. A detail that the response lacks is no reason: `forAudit` returns it; nor is a
   * call to another host: `check` and `after` make it.
   */
  audit?: ((output: Output, input: Input, context: Context) => Omit<AuditEntry, 'actor'> | null) | 'own'
  /** Why there is no audit entry, such as 'recorded as an event'. */
  unaudited?: string
  /** Whether it changes nothing although it is a POST, which has a body. */
  reads?: true
  /**
   * Whether `run` changes the databases in one transaction, and nothing else. With an audit entry it is atomic anyway.
   * `perform` runs it in a transaction if the response for an Idempotency-Key must be stored with the change. A POST
   * that is not atomic says in its `description` what a retry does after an interruption.
   */
  isAtomic?: true
}

/** The declaration of an operation, without its code. */
export type Declaration = Omit<Operation<never>, 'check' | 'run' | 'after' | 'audit' | 'forAudit'>

/** Declares operations that need `Services`: the types of `run` follow from the schemas. */
export function operationsWith<Services>() {
  return <
    In extends TProperties,
    Out extends TProperties,
    OperatorIn extends Record<string, OperatorFlag> = Record<never, never>,
    ForAudit extends TProperties = Record<never, never>,
    Checked = void,
  >(
    declared: Operation<
      Services,
      Static<TObject<In>> & Static<TObject<OperatorIn>>,
      Static<TObject<Out>> & Static<TObject<ForAudit>>,
      Checked
    > & {
      input: In
      operatorInput?: OperatorIn
      output: Out
      forAudit?: ForAudit
    },
  ) => declared as unknown as Operation<Services>
}

/** Declares an operation that needs nothing but the context. */
export const operation = operationsWith<unknown>()

/** An id in the path. A malformed one is unknown, so it is 404 like any other; upper case is accepted. */
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

/** Whether an operation changes nothing. */
export function isReading({ http, reads }: Pick<Operation, 'http' | 'reads'>): boolean {
  return reads === true || http.startsWith('GET ')
}

/** The method and the path of an operation. */
export function routeOf({ http }: Pick<Operation, 'http'>): { method: string; url: string; hasBody: boolean } {
  const [method = '', url = ''] = http.split(' ')
  return { method, url, hasBody: method !== 'GET' && method !== 'DELETE' }
}

import Type from 'typebox'
import type { Context } from '../operations/declare.ts'
import { CARRIES_MAIL, fieldOf, WRITES_DATA } from '../operations/further-scopes.ts'
import { isScope, type Scope } from '../operations/scopes.ts'
import type { IdClaims } from './id-token.ts'
import type { ProviderName, ProviderSettings } from './provider.ts'
import type { Tokens } from './token-request.ts'

/**
 * The purposes of a sign-in at a provider, and the scope that each requires; below, those of the data that it opens.
 */
const SCOPE_OF_PURPOSE = { mailbox: 'identities:write', connection: 'settings:write' } as const satisfies Record<
  string,
  Scope
>
const FURTHER_SCOPES = { mailbox: CARRIES_MAIL, connection: WRITES_DATA } as const

export type PurposeKind = keyof typeof SCOPE_OF_PURPOSE

/**
 * What the tokens of a sign-in are for. The other fields identify the mailbox or connection. The handler checks them.
 */
export type Purpose = Readonly<Record<string, string>> & { readonly kind: PurposeKind }

export const Purpose = Type.Unsafe<Purpose>({
  type: 'object',
  properties: { kind: { type: 'string', enum: Object.keys(SCOPE_OF_PURPOSE) } },
  required: ['kind'],
  additionalProperties: { type: 'string', maxLength: 500 },
  maxProperties: 12,
  description:
    'What the sign-in is for. `mailbox` needs `identity_id` and the scope identities:write. `connection` needs the scope settings:write and either `connection_id`, to sign in again, or `connector` with its settings; `source` and `read_since` are as in `POST /v1/connections`.',
})

/** The scope of a purpose; null if the purpose does not exist, which is reported elsewhere. */
export function scopeOfPurpose(kind: unknown): Scope | null {
  const scope = Object.entries(SCOPE_OF_PURPOSE).find(([name]) => name === kind)?.[1]
  return scope !== undefined && isScope(scope) ? scope : null
}

/** The further scopes of each purpose, for the operation that starts a sign-in. */
export const ALSO_FOR_PURPOSE = Object.entries(FURTHER_SCOPES).map(([kind, scopes]) => ({
  scopes,
  when: `for a ${kind}`,
  ofSent: (sent: unknown) => kindOfPurpose(sent) === kind,
}))

/** The kind of purpose in a body that has not been validated. */
export function kindOfPurpose(sent: unknown): unknown {
  return fieldOf(fieldOf(sent, 'purpose'), 'kind')
}

/** Every scope that a purpose requires. */
export function scopesOfPurpose(kind: PurposeKind): readonly Scope[] {
  return [SCOPE_OF_PURPOSE[kind], ...FURTHER_SCOPES[kind]]
}

/** What a purpose requests from the provider. */
export interface AuthorizationRequest {
  scopes: readonly string[]
  /** The settings that determine the provider's URLs. */
  settings?: ProviderSettings
  /** The address of the account that should sign in. */
  loginHint?: string
  /** Additional parameters of the authorization URL. */
  parameters?: Readonly<Record<string, string>>
}

/** The access that a person has allowed. */
export interface Authorized {
  provider: ProviderName
  settings: ProviderSettings
  /** The client that the tokens were issued to. */
  clientId: string
  tokens: Tokens
  /** null if the provider does not report the scopes. People can allow less than was requested. */
  scopes: readonly string[] | null
  /** The checked claims of the ID token; null if there is none. */
  claims: IdClaims | null
  /** All other fields of the provider's response, such as the URL of the account's API. Unchecked. */
  response: Readonly<Record<string, unknown>>
}

/** How a feature handles sign-ins of one kind. */
export interface PurposeHandler {
  /** @throws ServiceError if the purpose is invalid or the provider does not support it. */
  requestOf(context: Context, provider: ProviderName, purpose: Purpose): Promise<AuthorizationRequest>
  /**
   * Stores the tokens, in a transaction of its own with an audit entry.
   * @returns the path of the dashboard's page to continue at.
   */
  complete(context: Context, purpose: Purpose, authorized: Authorized): Promise<{ path: string }>
}

/** The handlers, by kind. */
export type Purposes = Readonly<Partial<Record<PurposeKind, PurposeHandler>>>

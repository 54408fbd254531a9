import Type, { type Static, type TSchema } from 'typebox'
import { isConsent } from '../contacts/consent.ts'
import { checkProperties } from '../contacts/properties.ts'
import type { ErrorDetail } from '../platform/errors.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { isStorableText } from '../platform/http/json-body.ts'

/** Every type of action that an agent can propose. */
export const ACTION_TYPES = ['email_message', 'social_message', 'social_connect', 'note', 'crm_update'] as const

export type ActionType = (typeof ACTION_TYPES)[number]

/** The action types that each capability of an agent allows. */
export const CAPABILITIES = {
  email: ['email_message'],
  linkedin: ['social_message', 'social_connect'],
  social: ['social_message', 'social_connect'],
  notes: ['note'],
  crm_sync: ['crm_update'],
} as const satisfies Record<string, readonly ActionType[]>

export type Capability = keyof typeof CAPABILITIES

export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as Capability[]

/** Action types that reach the contact; they need an identity, and an approval unless the playbook says otherwise. */
export const OUTBOUND_TYPES: readonly ActionType[] = ['email_message', 'social_message', 'social_connect']

export function isOutbound(type: ActionType): boolean {
  return OUTBOUND_TYPES.includes(type)
}

/** The action types that an agent with these capabilities may propose, in the order of `ACTION_TYPES`. */
export function typesOf(capabilities: readonly string[]): ActionType[] {
  const allowed = new Set(
    capabilities.flatMap((name): readonly ActionType[] =>
      Object.hasOwn(CAPABILITIES, name) ? CAPABILITIES[name as Capability] : [],
    ),
  )
  return ACTION_TYPES.filter((type) => allowed.has(type))
}

export function isActionType(type: unknown): type is ActionType {
  return (ACTION_TYPES as readonly unknown[]).includes(type)
}

/** One line: a line break in a subject would start another header. */
const ONE_LINE = '^[^\\r\\n]*$'
const SUBJECT = 'one line of text from 1 to 200 characters'
const UPDATED_KEYS_MAX = 20

/**
 * Properties that determine where and when a contact is reached. An agent that could change them could choose its own
 * recipient, so it can change neither these nor those that say whether the contact may be reached at all.
 */
const PROTECTED_PROPERTIES: readonly string[] = ['email', 'linkedin_url', 'social_profile_url', 'timezone']

/**
 * The params of each action type. None has a recipient, an address or an identity: the recipient is always the contact of
 * the action, and the sender the agent's identity, so that no text which a model reads can choose another.
 */
export const ACTION_PARAMS = {
  email_message: Type.Object(
    {
      subject: Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE, 'x-expected': SUBJECT }),
      message: Type.String({ minLength: 1, maxLength: 20_000, description: 'Markdown.' }),
    },
    { additionalProperties: false },
  ),
  social_message: Type.Object(
    { message: Type.String({ minLength: 1, maxLength: 8_000, description: 'Plain text.' }) },
    { additionalProperties: false },
  ),
  social_connect: Type.Object(
    { message: Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: 'Short plain text.' })) },
    { additionalProperties: false },
  ),
  note: Type.Object(
    { content: Type.String({ minLength: 1, maxLength: 20_000, description: 'Markdown.' }) },
    { additionalProperties: false },
  ),
  crm_update: Type.Object(
    {
      properties: Type.Unsafe<Record<string, string | number | boolean | null>>({
        type: 'object',
        minProperties: 1,
        maxProperties: UPDATED_KEYS_MAX,
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        description: 'Properties of the contact to set; null removes one.',
        'x-expected': `1 to ${UPDATED_KEYS_MAX} properties, each a string, a number, true, false or null`,
      }),
    },
    { additionalProperties: false },
  ),
} as const satisfies Record<ActionType, TSchema>

export type ActionParams<T extends ActionType = ActionType> = { [K in T]: Static<(typeof ACTION_PARAMS)[K]> }[T]

/** A proposed action, before it is stored. */
export type ProposedAction = { [T in ActionType]: { type: T; params: ActionParams<T> } }[ActionType]

/**
 * The result of comparing what a model wrote with what it knew. One that did not pass makes the action wait for a person, who
 * may approve it nevertheless.
 */
export interface Check {
  rule: 'facts' | 'other_people'
  passed: boolean
  message: string
}

const CHECKS = Object.fromEntries(ACTION_TYPES.map((type) => [type, compileBodyCheck(ACTION_PARAMS[type])])) as Record<
  ActionType,
  (params: unknown) => ErrorDetail[]
>

/**
 * Reports every problem of an action's params, which come from a model or from a person who edits them.
 * @param path their place in the request, for the error details.
 */
export function checkActionParams(type: ActionType, params: unknown, path = 'params'): ErrorDetail[] {
  const details = CHECKS[type](params)
  if (details.length === 0 && !hasStorableTexts(params)) {
    details.push({ path: '', message: 'contains a NUL character or a lone surrogate; remove it' })
  }
  if (details.length === 0 && type === 'crm_update') {
    const { properties } = params as ActionParams<'crm_update'>
    details.push(...checkProperties(properties), ...Object.keys(properties).flatMap(refuseProtected))
  }
  return details.map((detail) => ({ ...detail, path: detail.path === '' ? path : `${path}.${detail.path}` }))
}

function refuseProtected(key: string): ErrorDetail[] {
  return PROTECTED_PROPERTIES.includes(key) || isConsent(key)
    ? [{ path: `properties.${key}`, message: 'cannot be changed by an agent; remove it' }]
    : []
}

function hasStorableTexts(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (value === null || typeof value !== 'object') return true
  return Object.entries(value).every(([key, each]) => isStorableText(key) && hasStorableTexts(each))
}

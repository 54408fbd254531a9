import type { Context, Operation } from './declare.ts'
import { inWords, type Scope } from './scopes.ts'

/** The scopes that sending verified contacts, companies and events needs. */
export const WRITES_DATA = ['contacts:write', 'companies:write', 'events:write'] as const satisfies readonly Scope[]
/** The scopes that receiving contacts, companies and events needs. */
export const READS_DATA = ['contacts:read', 'companies:read', 'events:read'] as const satisfies readonly Scope[]

/** A mailbox reads the mails of contacts into their conversations, and sends to contacts. */
export const CARRIES_MAIL = ['contacts:read', 'contacts:write'] as const satisfies readonly Scope[]

/** A field of a body or query that has not been validated. */
export function fieldOf(sent: unknown, name: string): unknown {
  return typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[name] : undefined
}

type Declared<Services> = Pick<Operation<Services>, 'also'>

/** The scopes that every request needs besides `scope`: what is known before the request is read. */
export function scopesAlways({ also = [] }: Declared<never>): Scope[] {
  return also.flatMap(({ scopes, ofSent, ofRecord }) => (ofSent || ofRecord ? [] : scopes))
}

/** The scopes that follow from a request's query or body. */
export function scopesOfSent({ also = [], scopeOf }: Pick<Operation<never>, 'also' | 'scopeOf'>, sent: unknown) {
  const own = scopeOf?.(sent) ?? null
  const further = also.flatMap(({ scopes, ofSent }) => (ofSent?.(sent) ? scopes : []))
  return [...new Set(own === null ? further : [own, ...further])]
}

/** Checks the scopes that follow from the record that a request names. @throws ServiceError 403 naming all that lack */
export async function requireScopesOfRecord<Services>(
  { also = [] }: Declared<Services>,
  context: Context & Services,
  input: Record<string, unknown>,
): Promise<void> {
  const needed = new Set<Scope>()
  for (const { scopes, ofRecord } of also) {
    if (await ofRecord?.(context, input)) for (const scope of scopes) needed.add(scope)
  }
  context.requireScope(...needed)
}

/** The sentences of openapi.json about these scopes. */
export function describeFurtherScopes({ also = [] }: Declared<never>): string {
  return also
    .map(({ scopes, when }) => {
      const names = scopes.map((scope) => `\`${scope}\``)
      const noun = names.length === 1 ? 'scope' : 'scopes'
      return `Also needs the ${noun} ${inWords(names)}${when === undefined ? '' : ` ${when}`}.`
    })
    .join(' ')
}

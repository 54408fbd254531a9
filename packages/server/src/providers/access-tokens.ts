import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, MINUTE_MS } from '../platform/time.ts'
import { requestTokens, type TokenClient, type TokenDependencies, TokenRefused, type Tokens } from './token-request.ts'

/** A token is renewed early, so that it does not expire during a login. */
const RENEWED_BEFORE_EXPIRY_MS = MINUTE_MS
/** Pauses before a save is retried. The provider may already have revoked the old refresh token, so losing the new one would end the sign-in. */
const SAVE_PAUSES_MS = [250, 1_000, 3_000]
/** More than the renewals that can fail to be saved while the database is unavailable. */
const UNSAVED_MAX = 1_000

/**
 * Renewed tokens that could not be saved, by the stored tokens that they replace. They are kept for the whole process,
 * because the job that renewed them ends with the failure, and the next job opens the stored tokens.
 */
const unsaved = new Map<string, Tokens>()

/** Access tokens that are renewed when they expire. */
export interface AccessTokens {
  /** A token that has not expired as far as is known. @throws TokenRefused; Error if the endpoint is unavailable. */
  current(): Promise<string>
  /** Replaces a token that a server rejected. @throws as `current` does. */
  renew(rejected: string): Promise<string>
  /** The current tokens, without renewing them. */
  latest(): Tokens
  /** Every secret used so far, for redaction in messages. */
  secrets(): string[]
}

export interface TokenStore {
  /** The stored tokens, which another process may have renewed; null if they no longer exist. */
  load(): Promise<Tokens | null>
  /** Saves renewed tokens. @returns the tokens to use: those of another process, if it has renewed them first. */
  save(before: Tokens, renewed: Tokens): Promise<Tokens>
  /**
   * Saves a refusal. If `isEnded` is set, only another sign-in helps: store it, and pass the problem as `ended` from then on.
   * @returns the tokens that another process has renewed first; null if the refusal is final.
   */
  saveRefusal(before: Tokens, problem: string, isEnded: boolean): Promise<Tokens | null>
}

export interface TokenAccount {
  /** The client that the tokens were issued to; a function if it can change. */
  client: TokenClient | (() => Promise<TokenClient>)
  tokens: Tokens
  store: TokenStore
  /** The problem with which the provider ended the sign-in. If it is set, no further request is made. */
  ended?: string | null
}

/**
 * The access tokens of an account. Each is used until it expires or a server rejects it. Concurrent renewals share one
 * request, and a renewed refresh token is stored before the access token is used.
 */
export function createAccessTokens(
  dependencies: TokenDependencies,
  { client: given, tokens: first, store, ended: endedBefore = null }: TokenAccount,
): AccessTokens {
  let tokens = first
  let ended = endedBefore
  let renewing: Promise<string> | null = null
  const secrets = new Set<string>()
  const remember = (...texts: (string | null)[]) => {
    for (const text of texts) if (text !== null && text !== '') secrets.add(text)
  }
  const use = (next: Tokens) => {
    tokens = next
    remember(next.accessToken, next.refreshToken)
  }
  use(first)
  if (typeof given === 'object') remember(given.clientSecret)

  async function save(before: Tokens, renewed: Tokens): Promise<Tokens> {
    keep(before, renewed)
    for (let attempt = 0; ; attempt++) {
      try {
        const kept = await store.save(before, renewed)
        unsaved.delete(keyOf(before))
        return kept
      } catch (error) {
        const pause = SAVE_PAUSES_MS[attempt]
        if (pause === undefined) throw error
        await sleep(pause)
      }
    }
  }

  async function renewNow(rejected: string | null): Promise<string> {
    const isUsable = () => tokens.accessToken !== rejected && isValid(tokens, dependencies.clock)
    const stored = await store.load()
    if (stored && !isSame(stored, tokens)) {
      use(stored)
      if (isUsable()) return tokens.accessToken
    }
    const kept = unsaved.get(keyOf(tokens))
    if (kept) {
      use(await save(tokens, kept))
      if (isUsable()) return tokens.accessToken
    }
    const old = tokens
    try {
      const client = typeof given === 'function' ? await given() : given
      remember(client.clientSecret)
      const grant = { grant_type: 'refresh_token', refresh_token: old.refreshToken }
      const { accessToken, expiresAt, refreshToken } = await requestTokens(dependencies, client, grant)
      // Some endpoints issue a new refresh token each time. If a response has none, the old one stays valid.
      const renewed = { accessToken, expiresAt, refreshToken: refreshToken ?? old.refreshToken }
      remember(renewed.accessToken, renewed.refreshToken)
      use(await save(old, renewed))
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const others = await store.saveRefusal(old, error.message, error.isEnded)
      if (!others) {
        if (error.isEnded) ended = error.message
        throw error
      }
      use(others)
    }
    return tokens.accessToken
  }

  async function renewOnce(rejected: string | null): Promise<string> {
    if (ended !== null) throw new TokenRefused(ended, { isEnded: true })
    renewing ??= renewNow(rejected).finally(() => {
      renewing = null
    })
    return renewing
  }

  return {
    current: async () => (isValid(tokens, dependencies.clock) ? tokens.accessToken : renewOnce(null)),
    renew: async (rejected) => (rejected === tokens.accessToken ? renewOnce(rejected) : tokens.accessToken),
    latest: () => tokens,
    secrets: () => [...secrets],
  }
}

function keep(before: Tokens, renewed: Tokens): void {
  unsaved.set(keyOf(before), renewed)
  const [oldest] = unsaved.keys()
  if (unsaved.size > UNSAVED_MAX && oldest !== undefined) unsaved.delete(oldest)
}

function keyOf({ accessToken, refreshToken }: Tokens): string {
  return JSON.stringify([accessToken, refreshToken])
}

/** Whether both are the same tokens, which means that nobody renewed them in between. */
export function isSame(one: Tokens, other: Tokens): boolean {
  return one.accessToken === other.accessToken && one.refreshToken === other.refreshToken
}

function isValid({ accessToken, expiresAt }: Tokens, clock: Clock): boolean {
  if (accessToken === '') return false
  return expiresAt === null || Date.parse(expiresAt) - RENEWED_BEFORE_EXPIRY_MS > clock().getTime()
}

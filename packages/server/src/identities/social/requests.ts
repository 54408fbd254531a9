import Type from 'typebox'
import { secret } from '../../operations/declare.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { personal, TEXT, WORD } from '../../platform/personal.ts'
import { HOUR_SECONDS } from '../../platform/time.ts'
import { CODE_REJECTED, failureObject, type LoginFailure } from './failures.ts'
import type { Login, SessionRow, SessionStatus } from './sessions.ts'

const WAIT_SECONDS_MAX = HOUR_SECONDS
const WAIT_SECONDS_DEFAULT = 600

export const LoginInput = {
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'Requires `password`.' })),
  password: Type.Optional(secret({ minLength: 1, maxLength: 1_000 })),
  country: Type.Optional(
    Type.String({
      maxLength: 10,
      default: 'US',
      description: 'The country that the login should appear to come from: an ISO 3166-1 alpha-2 code.',
    }),
  ),
  max_verification_wait_time: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: WAIT_SECONDS_MAX,
      default: WAIT_SECONDS_DEFAULT,
      description: 'Seconds from the login call after which the login fails.',
    }),
  ),
}
export type LoginInput = Type.Static<Type.TObject<typeof LoginInput>>

/** A two-factor code. */
export const Code = {
  code: Type.String({
    pattern: '^[A-Za-z0-9]{4,12}$',
    'x-expected': 'the code as the network sent it, 4 to 12 letters and digits',
    examples: ['123456'],
  }),
}

/** Checks what the schema cannot. @throws ServiceError 400 that names every invalid field. */
export function parseLogin(body: LoginInput): Login {
  const { username, password, max_verification_wait_time: waitSeconds = WAIT_SECONDS_DEFAULT } = body
  const country = parseCountry(body.country ?? 'US')
  const details: ErrorDetail[] = []
  if (username === undefined && password !== undefined) {
    details.push({ path: 'username', message: 'is required with password; omit both to log in again' })
  }
  if (username !== undefined && username.trim() === '') details.push({ path: 'username', message: 'must not be blank' })
  if (username !== undefined && password === undefined) {
    details.push({ path: 'password', message: 'is required with username; omit both to log in again' })
  }
  if (country === null) details.push({ path: 'country', message: 'must be a two-letter ISO 3166-1 code, such as US' })
  if (details.length > 0 || country === null) throw validationError(details)
  const credentials = username === undefined || password === undefined ? null : { username, password }
  return { credentials, country, waitSeconds }
}

export const Status = Type.Enum(['queued', 'running', 'awaiting_2fa', 'awaiting_email', 'completed', 'failed'] as const)

/** The person's profile at the network. */
const ProfileId = Nullable(Type.String(personal('url')))

const LoginResult = Type.Object({ profile_id: ProfileId, session_id: Id, status: Status }, { title: 'LoginResult' })

export const LoginResponse = { message: Type.String(WORD), identity_id: Id, login_result: LoginResult }
export const CodeResponse = { session_id: Id, login_result: LoginResult }
/** The network's response about an identity's session. */
export const Check = { connected: Type.Boolean(), profile_id: ProfileId, checked_at: Timestamp }
export type Check = Type.Static<Type.TObject<typeof Check>>

/** The only successful response whose `status` is not `success`: it is the session's status. */
export const LoginStatus = {
  status: Status,
  session_id: Id,
  identity_id: Id,
  profile_id: ProfileId,
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String(WORD),
        message: Type.String(TEXT),
        http_status: Type.Integer({
          description: 'The HTTP status with which other calls of this flow return this error.',
        }),
      },
      { title: 'LoginError', description: 'Why the login failed. With `awaiting_2fa`: the latest code was rejected.' },
    ),
  ),
  login_result: LoginResult,
}
export type LoginStatus = Type.Static<Type.TObject<typeof LoginStatus>>

export function loginResult({ profile_id, session_id, status }: SessionRow): Type.Static<typeof LoginResult> {
  return { profile_id, session_id, status: status as SessionStatus }
}

/** The session as the status call returns it. */
export function loginStatus(session: SessionRow): LoginStatus {
  const { session_id, identity_id, profile_id } = session
  const error = errorOf(session)
  const result = loginResult(session)
  return {
    status: result.status,
    session_id,
    identity_id,
    profile_id,
    ...(error ? { error } : {}),
    login_result: result,
  }
}

/** Why the session failed or its last code was rejected; null if neither applies. */
export function errorOf(session: SessionRow) {
  if (session.error_code !== null) return failureObject(session.error_code as LoginFailure)
  const isRejected = session.status === 'awaiting_2fa' && session.code_rejected === session.code_count
  return isRejected && session.code_count > 0 ? CODE_REJECTED : null
}

/** The officially assigned codes of ISO 3166-1 alpha-2. `Intl` accepts others too, such as EU and XK. */
const CODES = `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM
KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ
SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU
WF WS YE YT ZA ZM ZW`

const COUNTRIES = new Set(CODES.split(/\s+/))

/** Parses a country code, ignoring case; null if it is not assigned. */
export function parseCountry(text: string): string | null {
  // Checked before the case conversion, because the upper case of some single letters has two (ß).
  const code = /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : ''
  return COUNTRIES.has(code) ? code : null
}

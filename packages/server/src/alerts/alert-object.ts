import type { Selectable } from 'kysely'
import Type from 'typebox'
import { isAboutContacts } from '../insights/question.ts'
import type { Values } from '../operations/declare.ts'
import { etagOf } from '../operations/etag.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Report } from '../reports/report-object.ts'
import { Condition } from './rule.ts'

export const CHECK_EVERY = ['hour', 'day'] as const
export type CheckEvery = (typeof CHECK_EVERY)[number]
const STATES = ['new', 'quiet', 'fired', 'failing', 'off'] as const

/** What names the number, in a request or a response. */
export const FollowedAt = Type.Record(Type.String(), Type.Unknown(bag('any')), {
  description:
    'Which number. trend: `{"series": "A"}`, in the newest complete interval, or with `"running": true` in the one that is not over yet; `{}` if the question has a formula. funnel: `{"step": 2, "figure": "from_first"}`, where figure is count, from_first or from_previous. retention: `{"interval": 1}`, the average of that interval.',
})

/** A number of a report that is watched. */
export const Alert = Type.Object(
  {
    alert_id: Id,
    name: Type.String({ examples: ['Few sign-ups'], ...TEXT }),
    report_id: Id,
    report_name: Type.String({ examples: ['Sign-ups by day'], ...TEXT }),
    at: FollowedAt,
    condition: Condition,
    check_every: Type.Unsafe<CheckEvery>({ type: 'string', enum: CHECK_EVERY }),
    mail_to: Type.Array(Id, { description: 'The members who get a mail.' }),
    enabled: Type.Boolean(),
    state: Type.Unsafe<(typeof STATES)[number]>({
      type: 'string',
      enum: STATES,
      description:
        'new: not checked yet. quiet: the condition is false. fired: it is true. failing: the last check had an error. off: not enabled.',
    }),
    last_checked_at: Nullable(Timestamp),
    last_interval: Nullable(Type.String({ examples: ['2026-10-25'], ...WORD }), 'The interval that was judged last.'),
    last_value: Nullable(
      Type.Number(),
      'Its number; null if it has none, and if the report is about contacts and you lack the scope `contacts:read`.',
    ),
    sample: Nullable(
      Type.Number(),
      'The part of the people from which the number is estimated; null if everybody counts.',
    ),
    triggered_at: Nullable(Timestamp, 'When it last fired.'),
    last_error: Nullable(
      Type.Object({ code: Type.String(WORD), message: Type.String(TEXT) }, { title: 'AlertError' }),
      'Why the last check failed.',
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Alert' },
)
export type Alert = Type.Static<typeof Alert>
export type AlertRow = Selectable<TenantTables['alerts']>

/** @param scopes of the caller */
export function toAlert(row: AlertRow, report: Report, scopes: ReadonlySet<string>): Alert {
  const isHidden = isAboutContacts(report.question) && !scopes.has('contacts:read')
  return {
    alert_id: row.alert_id,
    name: row.name,
    report_id: row.report_id,
    report_name: report.name,
    at: row.at as Values,
    // Only what was checked is stored.
    condition: row.condition as Condition,
    check_every: row.check_every as CheckEvery,
    mail_to: row.mail_to,
    enabled: row.enabled,
    state: stateOf(row),
    last_checked_at: row.last_checked_at?.toISOString() ?? null,
    last_interval: row.last_interval,
    last_value: isHidden ? null : row.last_value,
    sample: sampleOf(report),
    triggered_at: row.triggered_at?.toISOString() ?? null,
    last_error: row.last_error as Alert['last_error'],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The part of the people that a report asks; null if it asks everybody. */
export function sampleOf({ question: { sample } }: Report): number | null {
  return typeof sample === 'number' && sample < 1 ? sample : null
}

function stateOf({ enabled, last_error, last_interval, is_met }: AlertRow): Alert['state'] {
  if (!enabled) return 'off'
  if (last_error !== null) return 'failing'
  if (last_interval === null) return 'new'
  return is_met ? 'fired' : 'quiet'
}

export function etagOfAlert({ name, report_id, at, condition, check_every, mail_to, enabled }: Alert): string {
  return etagOf(name, report_id, at, condition, check_every, mail_to, enabled)
}

import Type from 'typebox'
import { emailsOfMembers } from '../access/members.ts'
import { followNumber } from '../insights/kinds.ts'
import { asking, type InsightServices } from '../insights/question.ts'
import { entryAbout } from '../operations/audit.ts'
import { type Context, type FurtherScopes, idInPath, operationsWith } from '../operations/declare.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { idInput } from '../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf, searchText } from '../platform/http/query-parameters.ts'
import { Changed, Id, Nullable } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import type { Mailer } from '../platform/mail.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Stores } from '../platform/tenant.ts'
import { Alert, CHECK_EVERY, etagOfAlert, FollowedAt } from './alert-object.ts'
import {
  createAlert,
  deleteAlert,
  listAlerts,
  readAlert,
  readReportOf,
  updateAlert,
  type Wanted,
  withChanges,
} from './alerts.ts'
import { readPoints } from './points.ts'
import { Condition, judge, problemsOfCondition } from './rule.ts'

const tag = 'Alerts'
const AlertPath = { alert_id: idInPath('alert') }
const Name = Type.String({ examples: ['Few sign-ups'] })
const ReportId = idInput({ description: 'The report whose number is watched.', ...WORD })
const RECIPIENTS_MAX = 20
const MailTo = Type.Array(idInput(WORD), {
  maxItems: RECIPIENTS_MAX,
  description: 'The ids of members who get a mail. Without any, only the event `alert_triggered` is recorded.',
})
const Enabled = Type.Boolean({ default: true })
/** The number is asked for before it is watched. */
const ASKS: readonly FurtherScopes[] = [{ scopes: ['events:read'] }]
/** How many intervals are 90 days. */
const PREVIEWED = { hour: 90 * 24, day: 90, week: 13, month: 3 }

const example = {
  name: 'Few visitors',
  report_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
  at: { series: 'A' },
  condition: { operator: 'below', value: 10 },
}

interface AlertServices extends InsightServices {
  stores: Stores
  mailer: Mailer | null
}
type Watched = Pick<Wanted, 'report_id' | 'at' | 'condition'>

const entryOf = entryAbout('alert')
const alertOperation = operationsWith<AlertServices>()

export const ALERT_OPERATIONS = [
  alertOperation({
    name: 'listAlerts',
    tag,
    http: 'GET /v1/alerts',
    command: 'alert list',
    scope: 'events:read',
    summary: 'List the alerts, the one that changed last first',
    input: { search: searchText('Words that must all occur in the name.'), ...pageParameters(50, 100) },
    output: { alerts: Type.Array(Alert), pagination: Pagination },
    async run(context, { search, page, limit }) {
      const { alerts, total } = await listAlerts(context, search, { page, limit })
      return { alerts, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  alertOperation({
    name: 'createAlert',
    tag,
    http: 'POST /v1/alerts',
    command: 'alert create',
    scope: 'segments:write',
    also: ASKS,
    summary: 'Watch a number of a report',
    description:
      'The alert is checked at once, and then 5 minutes after each hour or day begins. It judges each interval once. It fires when its condition becomes true, and again only after it was false in between: it then records the event `alert_triggered`, and sends mails. If the report is about contacts or companies, you also need the scope `contacts:read`.',
    input: {
      name: Name,
      report_id: ReportId,
      at: FollowedAt,
      condition: Condition,
      check_every: oneOf(CHECK_EVERY, 'How often it is checked. Default: day.'),
      mail_to: Type.Optional(MailTo),
      enabled: Type.Optional(Enabled),
    },
    output: { alert: Alert },
    status: 201,
    example,
    errors: ['400 unknown_segment', '409 too_many_alerts'],
    etag: ({ alert }) => etagOfAlert(alert),
    // Outside the transaction, because it reads events.
    async check(context, { mail_to = [], ...input }) {
      const report_id = await requireNumber(context, input)
      return { report_id, mail_to: await requireRecipients(context, mail_to) }
    },
    async run(context, { enabled = true, check_every = 'day', ...input }, checked) {
      return { alert: await createAlert(context, { ...input, enabled, check_every, ...checked }) }
    },
    audit: ({ alert: { alert_id, name } }) => entryOf('alert.created', alert_id, { name }),
  }),
  alertOperation({
    name: 'previewAlert',
    tag,
    http: 'POST /v1/alerts/preview',
    command: 'alert preview',
    scope: 'events:read',
    summary: 'Get when an alert would have fired in the past 90 days',
    description:
      'By the rule of the checks, with what is known now. An interval that is not over yet is left out. A funnel and a retention are asked once for each interval. If the report is about contacts or companies, you also need the scope `contacts:read`.',
    input: { report_id: ReportId, at: FollowedAt, condition: Condition },
    output: {
      points: Type.Array(
        Type.Object(
          {
            interval: Type.String({ examples: ['2026-10-25'], ...WORD }),
            value: Nullable(Type.Number()),
            fires: Type.Boolean(),
          },
          { title: 'AlertPreviewPoint' },
        ),
      ),
      fired: Type.Integer({ description: 'How often it would have fired.' }),
    },
    example: { report_id: example.report_id, at: example.at, condition: example.condition },
    errors: ['400 unknown_segment'],
    reads: true,
    async run(context, watched) {
      const { followed } = await readNumber(context, watched)
      const { condition } = watched
      const count = PREVIEWED[followed.unit]
      const points = await readPoints(followed, condition, { count, isRunning: false, choose: (keys) => [...keys] })
      const { fires } = judge(condition, points, { interval: null, isMet: false }, watched.at.running === true)
      return {
        points: points.map(({ interval, value }, index) => ({ interval, value, fires: fires[index] === true })),
        fired: fires.filter(Boolean).length,
      }
    },
  }),
  alertOperation({
    name: 'getAlert',
    tag,
    http: 'GET /v1/alerts/:alert_id',
    command: 'alert get',
    scope: 'events:read',
    summary: 'Get an alert',
    input: AlertPath,
    output: { alert: Alert },
    etag: ({ alert }) => etagOfAlert(alert),
    run: async (context, { alert_id }) => ({ alert: await readAlert(context, alert_id) }),
  }),
  alertOperation({
    name: 'updateAlert',
    tag,
    http: 'PATCH /v1/alerts/:alert_id',
    command: 'alert update',
    scope: 'segments:write',
    also: ASKS,
    summary: 'Change an alert, or turn it on or off; omitted fields keep their values',
    description:
      'With another report, number or condition, and when it is turned on, the alert starts afresh: it is checked at once, and fires if its condition is true.',
    input: {
      ...AlertPath,
      name: Type.Optional(Name),
      report_id: Type.Optional(ReportId),
      at: Type.Optional(FollowedAt),
      condition: Type.Optional(Condition),
      check_every: oneOf(CHECK_EVERY, 'How often it is checked.'),
      mail_to: Type.Optional(MailTo),
      enabled: Type.Optional(Enabled),
    },
    output: { alert: Alert, changed: Changed },
    example: { name: 'Few visitors this week' },
    errors: ['400 unknown_segment'],
    etag: ({ alert }) => etagOfAlert(alert),
    ifMatch: true,
    async check(context, { alert_id, mail_to, ...changes }) {
      const before = await readAlert(context, alert_id)
      const { report_id, at, condition, enabled } = changes
      const asks = report_id !== undefined || at !== undefined || condition !== undefined || enabled === true
      return {
        ...(asks ? { report_id: await requireNumber(context, withChanges(before, changes)) } : {}),
        ...(mail_to === undefined ? {} : { mail_to: await requireRecipients(context, mail_to) }),
      }
    },
    run: (context, { alert_id, ...changes }, checked) => updateAlert(context, alert_id, { ...changes, ...checked }),
    audit: ({ alert, changed }) =>
      changed.length === 0 ? null : entryOf('alert.updated', alert.alert_id, { changed }),
  }),
  alertOperation({
    name: 'deleteAlert',
    tag,
    http: 'DELETE /v1/alerts/:alert_id',
    command: 'alert delete',
    scope: 'segments:write',
    summary: 'Delete an alert; its report stays',
    input: AlertPath,
    output: { deleted: Type.Literal(true), alert_id: Id },
    forAudit: { name: Type.String(TEXT) },
    ifMatch: true,
    async run(context, { alert_id }) {
      const { name } = await deleteAlert(context, alert_id)
      return { deleted: true as const, alert_id, name }
    },
    audit: ({ alert_id, name }) => entryOf('alert.deleted', alert_id, { name }),
  }),
]

/** @throws ServiceError 400 naming every invalid field; 403. */
async function readNumber(context: Context & AlertServices, { report_id, at, condition }: Watched) {
  const problems = problemsOfCondition(condition, at.running === true)
  if (problems.length > 0) throw validationError(problems)
  const report = await readReportOf(context.tenant, report_id)
  return { report, followed: await followNumber(asking(context), report, at) }
}

/**
 * Asks for the number once, so that one without an answer is an error.
 * @returns the id of the report as it is stored. @throws ServiceError 400 naming every invalid field; 403.
 */
async function requireNumber(context: Context & AlertServices, watched: Watched): Promise<string> {
  const { report, followed } = await readNumber(context, watched)
  await followed.numbersIn(followed.spans(1, { includesRunning: false }))
  return report.report_id
}

/** The recipients as they are stored. @throws ServiceError 400 naming every invalid field. */
async function requireRecipients(
  { stores, tenant, mailer }: Pick<Context & AlertServices, 'stores' | 'tenant' | 'mailer'>,
  sent: readonly string[],
): Promise<string[]> {
  if (sent.length > 0 && mailer === null) {
    const message = 'must be empty: this service cannot send mail. Its operator can set CDS_SMTP_URL'
    throw validationError([{ path: 'mail_to', message }])
  }
  const ids = sent.map((id) => id.toLowerCase())
  const members = await emailsOfMembers(stores.database, tenant.id, ids.filter(isUuid))
  const details = ids.flatMap((id, index): ErrorDetail[] =>
    members.has(id) ? [] : [{ path: `mail_to[${index}]`, message: 'must be the id of a member of the workspace' }],
  )
  if (details.length > 0) throw validationError(details)
  return [...new Set(ids)]
}

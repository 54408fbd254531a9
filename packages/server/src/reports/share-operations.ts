import Type from 'typebox'
import type { Config } from '../config.ts'
import { isAboutContacts } from '../insights/question.ts'
import { type Context, type FurtherScopes, idInPath, operationsWith } from '../operations/declare.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { ServiceError } from '../platform/errors.ts'
import { Id, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WITHHELD } from '../platform/personal.ts'
import { entryOf as entryOfDashboard } from './dashboard-operations.ts'
import { findDashboard, lockTiles, readDashboard } from './dashboards.ts'
import { entryOf as entryOfReport } from './operations.ts'
import type { Report } from './report-object.ts'
import { readReport, reportsById } from './reports.ts'
import { createShareLink, deleteShareLink, type Shared, urlOfShare } from './share-links.ts'
import { hiddenBreakdowns } from './shareable.ts'
import { reportIdsOf } from './shared-view.ts'

interface ShareServices {
  secrets: SecretBox
  config: Pick<Config, 'publicUrl'>
}

const ReportPath = { report_id: idInPath('report') }
const DashboardPath = { dashboard_id: idInPath('dashboard') }
const Share = Type.Object(
  {
    url: Type.String({
      format: 'uri',
      examples: ['https://data.example.com/shared/x1Yt0pWvVQbYdYl3nq2XqzZk3mJrT0aP'],
      description: 'Where the dashboard shows the figures. Whoever has it can read them.',
      ...WITHHELD,
    }),
    created_at: Timestamp,
  },
  { title: 'Share' },
)
const description =
  'Anybody who has the link can read the figures, also those of later changes. They see the names, the ranges and the numbers, but no conditions and no people. The link stays the same until it is deleted. A breakdown by values that may be about a person, such as those of `data`, cannot be shared.'

const shareOperation = operationsWith<ShareServices>()

const EVENTS: FurtherScopes = { scopes: ['events:read'] }
const WHEN = 'if a question is about contacts or companies'

export const SHARE_OPERATIONS = [
  shareOperation({
    name: 'shareReport',
    tag: 'Reports',
    http: 'POST /v1/reports/:report_id/share',
    command: 'report share',
    scope: 'segments:write',
    also: [
      EVENTS,
      {
        scopes: ['contacts:read'],
        when: WHEN,
        ofRecord: async ({ tenant }, { report_id }) => areAboutContacts(await reportsById(tenant, [report_id])),
      },
    ],
    summary: 'Create a link that shows the figures of a report to anybody',
    description,
    input: ReportPath,
    output: { share: Share },
    status: 201,
    forAudit: { name: Type.String(TEXT), is_new: Type.Boolean() },
    errors: ['400 not_shareable'],
    async run(context, { report_id }) {
      await lockTiles(context.tenant)
      const report = await readReport(context.tenant, report_id)
      requireShareable([report])
      return { ...(await shareOf(context, { report_id })), name: report.name }
    },
    audit: ({ name, is_new }, { report_id }) => (is_new ? entryOfReport('report.shared', report_id, { name }) : null),
  }),
  shareOperation({
    name: 'unshareReport',
    tag: 'Reports',
    http: 'DELETE /v1/reports/:report_id/share',
    command: 'report unshare',
    scope: 'segments:write',
    summary: 'Delete the link that shows a report to anybody; it shows nothing from then on',
    input: ReportPath,
    output: { deleted: Type.Literal(true), report_id: Id },
    forAudit: { name: Type.String(TEXT) },
    async run({ tenant }, { report_id }) {
      await lockTiles(tenant)
      const { name } = await readReport(tenant, report_id)
      await deleteShareLink(tenant, { report_id })
      return { deleted: true as const, report_id, name }
    },
    audit: ({ report_id, name }) => entryOfReport('report.unshared', report_id, { name }),
  }),
  shareOperation({
    name: 'shareDashboard',
    tag: 'Dashboards',
    http: 'POST /v1/dashboards/:dashboard_id/share',
    command: 'dashboard share',
    scope: 'segments:write',
    also: [
      EVENTS,
      {
        scopes: ['contacts:read'],
        when: WHEN,
        async ofRecord({ tenant }, { dashboard_id }) {
          const dashboard = await findDashboard(tenant, dashboard_id)
          if (dashboard === null) return false
          const { tiles, where } = dashboard
          return isAboutContacts({ where }) || areAboutContacts(await reportsById(tenant, reportIdsOf(tiles)))
        },
      },
    ],
    summary: 'Create a link that shows the figures of a dashboard to anybody',
    description,
    input: DashboardPath,
    output: { share: Share },
    status: 201,
    forAudit: { name: Type.String(TEXT), is_new: Type.Boolean() },
    errors: ['400 not_shareable'],
    async run(context, { dashboard_id }) {
      await lockTiles(context.tenant)
      const { name, tiles } = await readDashboard(context.tenant, dashboard_id)
      requireShareable([...(await reportsById(context.tenant, reportIdsOf(tiles))).values()])
      return { ...(await shareOf(context, { dashboard_id })), name }
    },
    audit: ({ name, is_new }, { dashboard_id }) =>
      is_new ? entryOfDashboard('dashboard.shared', dashboard_id, { name }) : null,
  }),
  shareOperation({
    name: 'unshareDashboard',
    tag: 'Dashboards',
    http: 'DELETE /v1/dashboards/:dashboard_id/share',
    command: 'dashboard unshare',
    scope: 'segments:write',
    summary: 'Delete the link that shows a dashboard to anybody; it shows nothing from then on',
    input: DashboardPath,
    output: { deleted: Type.Literal(true), dashboard_id: Id },
    forAudit: { name: Type.String(TEXT) },
    async run({ tenant }, { dashboard_id }) {
      await lockTiles(tenant)
      const { name } = await readDashboard(tenant, dashboard_id)
      await deleteShareLink(tenant, { dashboard_id })
      return { deleted: true as const, dashboard_id, name }
    },
    audit: ({ dashboard_id, name }) => entryOfDashboard('dashboard.unshared', dashboard_id, { name }),
  }),
]

async function shareOf({ tenant, secrets, config, now }: Context & ShareServices, shared: Shared) {
  const { token, createdAt, isNew } = await createShareLink(tenant, secrets, shared, now)
  const share = { url: urlOfShare(config.publicUrl, token), created_at: createdAt.toISOString() }
  return { share, is_new: isNew }
}

/** @throws ServiceError 400 `not_shareable` if an answer could show who people are. */
function requireShareable(reports: readonly Pick<Report, 'name' | 'question'>[]): void {
  for (const { name, question } of reports) {
    const hidden = hiddenBreakdowns(question)
    if (hidden.length === 0) continue
    const message = `The report “${name}” breaks down by ${hidden.join(' and ')}, whose values may be about people. Break it down by a property such as country, url_path or utm_source, then share it.`
    throw new ServiceError(400, 'not_shareable', message)
  }
}

function areAboutContacts(reports: ReadonlyMap<string, Report>): boolean {
  return [...reports.values()].some(({ question }) => isAboutContacts(question))
}

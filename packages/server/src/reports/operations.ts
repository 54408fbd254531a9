import Type from 'typebox'
import { AnswerField, answerTo, InsightKindField, QuestionField } from '../insights/kinds.ts'
import { asking, type InsightServices } from '../insights/question.ts'
import { entryAbout } from '../operations/audit.ts'
import { type FurtherScopes, idInPath, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { searchText } from '../platform/http/query-parameters.ts'
import { Changed, Id } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { etagOfReport, Report } from './report-object.ts'
import { createReport, deleteReport, listReports, type ReportUsers, readReport, updateReport } from './reports.ts'

const tag = 'Reports'
const ReportPath = { report_id: idInPath('report') }
const Name = Type.String({ examples: ['Sign-ups by country'] })
/** A page of this many questions must fit into a response. */
const QUESTION_BYTES_MAX = 64 * 1024
/** A question is answered before it is saved. */
const ASKS: readonly FurtherScopes[] = [{ scopes: ['events:read'] }]

const example = {
  name: 'Visitors by day',
  kind: 'trend',
  question: { series: [{ event: 'page_view', metric: 'unique_people' }], last: { value: 7, unit: 'day' } },
}

export const entryOf = entryAbout('report')
const reportOperation = operationsWith<InsightServices & ReportUsers>()

export const REPORT_OPERATIONS = [
  reportOperation({
    name: 'listReports',
    tag,
    http: 'GET /v1/reports',
    command: 'report list',
    scope: 'events:read',
    summary: 'List the reports, the one that changed last first',
    input: { search: searchText('Words that must all occur in the name.'), ...pageParameters(50, 100) },
    output: { reports: Type.Array(Report), pagination: Pagination },
    async run({ tenant }, { search, page, limit }) {
      const { reports, total } = await listReports(tenant, search, { page, limit })
      return { reports, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  reportOperation({
    name: 'createReport',
    tag,
    http: 'POST /v1/reports',
    command: 'report create',
    scope: 'segments:write',
    also: ASKS,
    summary: 'Save a question under a name',
    description:
      'The question is asked once before it is saved, so that a question without an answer is an error. If it is about contacts or companies, you also need the scope `contacts:read`.',
    input: { name: Name, kind: InsightKindField, question: QuestionField },
    output: { report: Report },
    status: 201,
    bodyBytesMax: QUESTION_BYTES_MAX,
    example,
    errors: ['409 too_many_reports'],
    etag: ({ report }) => etagOfReport(report),
    // Outside the transaction, because it reads events.
    check: (context, { kind, question }) => answerTo(asking(context), { kind, question }),
    run: async ({ tenant, now }, input) => ({ report: await createReport(tenant, input, now) }),
    audit: ({ report: { report_id, name, kind } }) => entryOf('report.created', report_id, { name, kind }),
  }),
  reportOperation({
    name: 'getReport',
    tag,
    http: 'GET /v1/reports/:report_id',
    command: 'report get',
    scope: 'events:read',
    summary: 'Get a report, without its answer',
    input: ReportPath,
    output: { report: Report },
    etag: ({ report }) => etagOfReport(report),
    run: async ({ tenant }, { report_id }) => ({ report: await readReport(tenant, report_id) }),
  }),
  reportOperation({
    name: 'updateReport',
    tag,
    http: 'PATCH /v1/reports/:report_id',
    command: 'report update',
    scope: 'segments:write',
    also: ASKS,
    summary: 'Change the name or the question of a report; its kind stays',
    description: 'Another question is asked once before it is saved, as a new one is.',
    input: { ...ReportPath, name: Type.Optional(Name), question: Type.Optional(QuestionField) },
    output: { report: Report, changed: Changed },
    bodyBytesMax: QUESTION_BYTES_MAX,
    example: { name: 'Visitors of a week' },
    etag: ({ report }) => etagOfReport(report),
    ifMatch: true,
    async check(context, { report_id, question }) {
      if (question === undefined) return
      const { kind } = await readReport(context.tenant, report_id)
      await answerTo(asking(context), { kind, question })
    },
    run: (context, { report_id, ...changes }) => updateReport(context.tenant, report_id, changes, context),
    audit: ({ report, changed }) =>
      changed.length === 0 ? null : entryOf('report.updated', report.report_id, { changed }),
  }),
  reportOperation({
    name: 'deleteReport',
    tag,
    http: 'DELETE /v1/reports/:report_id',
    command: 'report delete',
    scope: 'segments:write',
    summary: 'Delete a report that no dashboard and no alert uses',
    input: ReportPath,
    output: { deleted: Type.Literal(true), report_id: Id },
    forAudit: { name: Type.String(TEXT) },
    errors: ['409 report_in_use'],
    ifMatch: true,
    async run(context, { report_id }) {
      const { name } = await deleteReport(context.tenant, report_id, context)
      return { deleted: true as const, report_id, name }
    },
    audit: ({ report_id, name }) => entryOf('report.deleted', report_id, { name }),
  }),
  reportOperation({
    name: 'runReport',
    tag,
    http: 'POST /v1/reports/:report_id/run',
    command: 'report run',
    scope: 'events:read',
    summary: 'Answer the question of a report',
    description:
      'The answer is that of the operation of its kind. If the question is about contacts or companies, you also need the scope `contacts:read`.',
    input: ReportPath,
    output: { report: Report, answer: AnswerField },
    reads: true,
    async run(context, { report_id }) {
      const report = await readReport(context.tenant, report_id)
      return { report, answer: await answerTo(asking(context), report, 'report.question') }
    },
  }),
]

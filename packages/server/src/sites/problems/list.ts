import Type from 'typebox'
import { hostsToAdd } from '../../access/domains-of-tenant.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { personal, TEXT, WORD } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { HOUR_MS } from '../../platform/time.ts'

/** Problems older than this are not listed, and deleted soon after. */
export const KEPT_MS = HOUR_MS

/** The code of a problem whose reason is the page's host. */
export const REFUSED_CODE = 'domain_not_allowed'

/** A request of a page or a server that was rejected or accepted with warnings. */
export const RequestProblem = Type.Object(
  {
    problem_id: Id,
    at: Timestamp,
    method: Type.String({ examples: ['POST'], ...WORD }),
    path: Type.String({ examples: ['/track'], ...TEXT }),
    status: Type.Integer({
      description:
        'The status that was returned: 200 if there were only warnings, or for a tracker script that only says what is wrong.',
    }),
    code: Type.String({ description: 'The error code, or `warnings`.', examples: ['validation_error'], ...WORD }),
    messages: Type.Array(Type.String(TEXT), { description: 'What was wrong, or what was ignored and why.' }),
    page_host: Nullable(Type.String({ description: 'The host of the page that sent the request.', ...WORD })),
    domain_to_add: Nullable(
      Type.String({
        description:
          "The page's host, if the request was refused because it is not among your domains, and you can add it. null once it is added.",
        ...WORD,
      }),
    ),
    visitor_id: Nullable(Type.String(TEXT)),
    user_agent: Type.String(TEXT),
    body: Nullable(
      Type.String({
        description: 'The start of the body; null if it was not read, or if the domain is not yours.',
        ...personal('free-text'),
      }),
    ),
    skipped: Type.Integer({ description: 'More problems of about the same time, which are not listed.' }),
  },
  { title: 'RequestProblem' },
)
export type RequestProblem = Type.Static<typeof RequestProblem>

/** One page of the last hour's problems, newest first, and the total. */
export async function listProblems(
  tenant: Tenant,
  page: Page,
  publicUrl: string,
  now: Date,
): Promise<{ problems: RequestProblem[]; total: number }> {
  const recent = tenant.db.selectFrom('request_problems').where('at', '>=', new Date(now.getTime() - KEPT_MS))
  const [rows, counted] = await Promise.all([
    recent
      .select([
        'problem_id',
        'at',
        'method',
        'path',
        'status',
        'code',
        'messages',
        'page_host',
        'visitor_id',
        'user_agent',
        'body',
        'skipped',
      ])
      .orderBy('at', 'desc')
      .orderBy('problem_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    recent.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  const refused = rows.flatMap(({ code, page_host: host }) => (code === REFUSED_CODE && host !== null ? [host] : []))
  const toAdd = await hostsToAdd(tenant, refused, publicUrl)
  const problems = rows.map(({ at, ...problem }) => {
    const { code, page_host: host } = problem
    const canAdd = code === REFUSED_CODE && host !== null && toAdd.has(host)
    return { ...problem, at: at.toISOString(), domain_to_add: canAdd ? host : null }
  })
  return { problems, total: Number(counted.count) }
}

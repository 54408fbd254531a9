import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { KEPT_MS, type RequestProblem } from './problem.ts'

/** One page of the last hour's problems, newest first, and the total. */
export async function listProblems(
  tenant: Tenant,
  page: Page,
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
  const problems = rows.map(({ at, ...problem }) => ({ ...problem, at: at.toISOString() }))
  return { problems, total: Number(counted.count) }
}

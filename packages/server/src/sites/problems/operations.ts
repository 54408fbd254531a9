import Type from 'typebox'
import type { Config } from '../../config.ts'
import { operationsWith } from '../../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { listProblems, RequestProblem } from './list.ts'

/** Services of the operation on problems. */
export interface ProblemServices {
  config: Pick<Config, 'publicUrl'>
}

const ofProblems = operationsWith<ProblemServices>()

export const PROBLEM_OPERATIONS = [
  ofProblems({
    name: 'listRequestProblems',
    tag: 'Tracker',
    http: 'GET /v1/tracker/problems',
    command: 'problem list',
    scope: 'events:read',
    summary:
      "List requests of the tenant's pages and servers that were rejected or accepted with warnings, newest first",
    description:
      'Tracker requests, refused loads of the tracker script and form submissions of the last hour, and requests with an API key to POST /v1/contacts, /v1/identify and /v1/sources/:source/contacts. From a page whose domain you have not verified, you see that it sent something, not what: at most once a minute for each of 20 hosts, if the request names the tenant, if you added the domain or one above it, or if the service has no other tenant. In a flood only a sample is kept; `skipped` counts the rest. Erasing a contact deletes the whole list.',
    input: pageParameters(50, 100),
    output: { problems: Type.Array(RequestProblem), pagination: Pagination },
    async run({ tenant, now, config }, { page, limit }) {
      const { problems, total } = await listProblems(tenant, { page, limit }, config.publicUrl, now)
      return { problems, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]

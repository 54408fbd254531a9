import Type from 'typebox'
import { operation } from '../../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { listProblems, RequestProblem } from './list.ts'

export const PROBLEM_OPERATIONS = [
  operation({
    name: 'listRequestProblems',
    tag: 'Tracker',
    http: 'GET /v1/tracker/problems',
    command: 'problem list',
    scope: 'events:read',
    summary:
      "List requests of the tenant's pages and servers that were rejected or accepted with warnings, newest first",
    description:
      'Tracker requests and form submissions of the last hour, and requests with an API key to POST /v1/contacts, /v1/identify and /v1/sources/:source/contacts. From a page whose domain you have added but not verified, you see that it sent something, not what. In a flood only a sample is kept; `skipped` counts the rest. Erasing a contact deletes the whole list.',
    input: pageParameters(50, 100),
    output: { problems: Type.Array(RequestProblem), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { problems, total } = await listProblems(tenant, { page, limit }, now)
      return { problems, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]

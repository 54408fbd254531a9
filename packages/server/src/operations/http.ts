import type { FastifySchema } from 'fastify'
import Type, { type TProperties } from 'typebox'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { type Operation, routeOf, type Values } from './declare.ts'
import { perform } from './perform.ts'

type Dependencies<Services> = Services & { clock: Clock }

/** Adds a route for each operation. */
export function mountOperations<Services extends object>(
  app: App,
  operations: readonly Operation<Services>[],
  dependencies: Dependencies<Services>,
): void {
  for (const operation of operations) mount(app, operation, dependencies)
}

function mount<Services extends object>(
  app: App,
  operation: Operation<Services>,
  dependencies: Dependencies<Services>,
): void {
  const { name, tag, scope, summary, description, output, status = 200, bodyBytesMax } = operation
  const { method, url, hasBody } = routeOf(operation)
  const { path, sent } = partsOf(url, operation.input)
  const schema: FastifySchema = {
    operationId: name,
    tags: [tag],
    summary,
    description,
    params: Type.Object(path),
    ...(hasBody ? { body: bodyOf(method, sent) } : { querystring: Type.Object(sent) }),
    response: { [status]: success(output) },
  }
  app.route({
    method,
    url,
    config: { access: scope },
    ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
    schema,
    handler: async (request, reply) => {
      const { tenant, actor, scopes, warnings, params, query, body } = request
      const given = hasBody ? withMoments(sent, body as Values) : (query as Values)
      const warn = (text: string) => void warnings.push(text)
      const context = { ...dependencies, tenant, now: dependencies.clock(), actor, scopes, warn }
      const answer = await perform(operation, context, { ...given, ...(params as Values) })
      return reply.code(status).send({ status: 'success', ...answer })
    },
  })
}

/** The path parameters, and the rest of the input: the query parameters or the body. */
function partsOf(url: string, input: TProperties): { path: TProperties; sent: TProperties } {
  const inPath = new Set(url.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : [])))
  const fields = Object.entries(input)
  return {
    path: Object.fromEntries(fields.filter(([name]) => inPath.has(name))),
    sent: Object.fromEntries(fields.filter(([name]) => !inPath.has(name))),
  }
}

/** The schema of a body. A POST whose fields are all optional needs no body. */
function bodyOf(method: string, sent: TProperties) {
  const isOptional = method === 'POST' && Object.values(sent).every(Type.IsOptional)
  return Type.Object(asBodyFields(sent), {
    additionalProperties: false,
    ...(isOptional ? { 'x-optional': true } : {}),
  })
}

/** The body with a Date for each timestamp. @throws ServiceError 400 */
function withMoments(sent: TProperties, body: Values): Values {
  const { values, details } = parseBounds(sent, body, '')
  if (details.length > 0) throw validationError(details)
  return values
}
